import { platform } from "#platform";
import { toBase64Url } from "../../encoding/base64url.js";
import type { CacheHint, ServerSelf } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { type MethodRow, MethodTable } from "../../protocol/methods.js";
import { REVISIONS, type Revision } from "../../protocol/revisions.js";
import type { JsonSchemaAdapter } from "../../schema/standard.js";
import { Hub } from "../changes/hub.js";
import { type CacheTopic, cacheHints } from "../lists/cache-hints.js";
import type { Feature, MethodHandler } from "../lists/feature.js";
import { checkPageSize } from "../lists/pages.js";
import type { Middleware } from "../middleware.js";
import type { Mounts } from "../mount/mount.js";
import type { Observer } from "../observer.js";
import { DEFAULT_LIMITS, type ServerInfo, type ServerLimits, type ServerOptions } from "../options.js";
import { Replay } from "../questions/by-replay.js";
import { type Asker, requestAsker } from "../questions/by-request.js";
import { Secrets } from "../seal/secrets.js";
import { OverflowStore } from "../tools/overflow-store.js";
import { CallLimit } from "./call-limit.js";
import type { Run } from "./server-call.js";
import { traceOf } from "./thrown.js";

/** A method and what serves it. */
export interface Route {
  row: MethodRow;
  handler: MethodHandler;
}

/** What all parts of one server have in common. Built once; holds no connection. */
export class ServerCore {
  readonly platform: Platform;
  readonly options: ServerOptions;
  readonly limits: ServerLimits;
  readonly secrets: Secrets;
  readonly methods: MethodTable;
  readonly self: ServerSelf;
  readonly cacheHint: CacheHint;
  /** How long clients may keep what they get, by what it is. */
  readonly hints: Readonly<Record<CacheTopic, CacheHint>>;
  /** Who wants to hear of changes. */
  readonly hub: Hub;
  readonly toJsonSchema: JsonSchemaAdapter | undefined;
  readonly logging: boolean;
  /** Calls of tools that run at once. */
  readonly calls: CallLimit;
  /** Results that were too large for their answer. */
  readonly overflow: OverflowStore;
  readonly middleware: Middleware[] = [];
  /** Who hears of calls. Replaced, never changed in place, so that telling them is safe at any moment. */
  observers: readonly Observer[] = [];
  /** Must settle before a call is served; a failure is the answer. Absent for servers with nothing to prepare. */
  gate: (() => Promise<void>) | undefined;
  /** Kinds that a handler object offers as a whole: nothing can be added to them one by one. */
  readonly provided = new Set<string>();
  /** Servers within this one. */
  mounts: Mounts | undefined;
  /** Told at once when what is offered changed. */
  readonly onChanged: (() => void)[] = [];
  /** Called once by `close`. */
  readonly closers: (() => void | Promise<void>)[] = [];
  readonly handlers = new Map<string, MethodHandler>();
  readonly askers: Record<"request" | "replay", (run: Run) => Asker> = {
    request: requestAsker,
    replay: (run) => new Replay(run, undefined, {}),
  };
  readonly #features: Feature[] = [];
  readonly #capabilities = new Map<Revision, ServerCapabilities>();
  readonly #routes = new Map<Revision, Map<string, Route>>();
  #questions = 0;
  #questionPrefix: string | undefined;

  constructor(info: ServerInfo, options: ServerOptions) {
    checkInfo(info);
    this.platform = { ...platform, ...options.platform };
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.secrets = new Secrets(this.platform, options.secret);
    this.methods = new MethodTable(options.extensions?.flatMap((extension) => extension.methods ?? []));
    this.hints = cacheHints(options.cache);
    this.cacheHint = this.hints.read;
    this.toJsonSchema = options.toJsonSchema;
    this.logging = options.logging ?? true;
    const { calls: running, queuedCalls: queued } = this.limits;
    this.calls = new CallLimit({ what: "this server", option: "limits.calls", running, queued });
    this.overflow = new OverflowStore(this.platform);
    this.self = {
      info,
      instructions: options.instructions,
      revisions: options.revisions ?? REVISIONS,
      methods: this.methods,
      discoverCache: this.hints.discover,
      capabilities: (revision) => this.capabilities(revision),
    };
    checkPageSize(options.pageSize);
    this.hub = new Hub(this);
  }

  addFeature(feature: Feature): void {
    this.#features.push(feature);
    for (const [method, handler] of Object.entries(feature.handlers)) this.handlers.set(method, handler);
    this.changed();
  }

  /** What is offered changed; what was derived from it is made anew. */
  changed(): void {
    this.#capabilities.clear();
    this.#routes.clear();
    for (const tell of this.onChanged) tell();
  }

  /** Whether a kind is announced before the first of it is registered. */
  declares(kind: "tools" | "resources" | "prompts"): boolean {
    return this.options.declare?.includes(kind) === true;
  }

  capabilities(revision: Revision): ServerCapabilities {
    const known = this.#capabilities.get(revision);
    if (known !== undefined) return known;
    const all: ServerCapabilities = {};
    for (const feature of this.#features) addCapabilities(all, feature.capabilities(revision));
    const extensions = this.options.extensions ?? [];
    if (extensions.length > 0) {
      all.extensions = Object.fromEntries(extensions.map((extension) => [extension.id, extension.settings]));
    }
    this.#capabilities.set(revision, all);
    return all;
  }

  /** Why capabilities are on or off, as far as features know it. */
  reasons(): Record<string, string> {
    return Object.assign({}, ...this.#features.map((feature) => feature.reasons?.() ?? {})) as Record<string, string>;
  }

  /** Row and handler of a request that this revision has and this server offers. */
  route(method: string, revision: Revision): Route | undefined {
    const routes = this.#routes.get(revision) ?? this.#routesOf(revision);
    return routes.get(method);
  }

  #routesOf(revision: Revision): Map<string, Route> {
    const routes = new Map<string, Route>();
    const capabilities = this.capabilities(revision);
    for (const [method, handler] of this.handlers) {
      const row = this.methods.at(method, revision);
      if (row === undefined || row.kind !== "request" || row.sender === "server") continue;
      if (this.#features.some((feature) => feature.withholds?.(method, capabilities) === true)) continue;
      if (row.capability === undefined || hasCapability(capabilities, row.capability))
        routes.set(method, { row, handler });
    }
    this.#routes.set(revision, routes);
    return routes;
  }

  /** Ids of requests to clients. Unique over all nodes that may serve one session: an answer can reach any of them. */
  nextQuestionId(): string {
    this.#questionPrefix ??= this.randomId().slice(0, 8);
    this.#questions++;
    return `q${this.#questionPrefix}-${this.#questions}`;
  }

  /** A fixed text for an error that must not be shown, with an id that the operator finds beside the error. */
  mask(error: unknown): string {
    const id = this.randomId();
    this.platform.warn(`error ${id}: ${traceOf(error)}`);
    return `internal error (id ${id})`;
  }

  randomId(): string {
    return toBase64Url(this.platform.randomBytes(16));
  }
}

/** Programs without types may leave out what every client is told. */
function checkInfo(info: Partial<ServerInfo> | undefined): void {
  if (typeof info?.name === "string" && info.name !== "" && typeof info.version === "string") return;
  throw new McpError("invalid_definition", "a server needs a name and a version", {
    fix: 'Write `new Server({ name: "weather", version: "1.0.0" })`.',
  });
}

/** Several features may speak of one capability, for example what is registered here and what is mounted. */
function addCapabilities(all: ServerCapabilities, more: ServerCapabilities): void {
  for (const [name, value] of Object.entries(more)) {
    const known = all[name];
    all[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
  }
}
