import type { ServerSelf } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { declaredExtensions } from "../../protocol/extension.js";
import type { Tool as WireTool } from "../../protocol/features/tools.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ToolOffer } from "../tools/tool.js";
import type { ServerFacts } from "./facts.js";
import type { Feature, MethodHandler } from "./feature.js";
import type { ServerCall } from "./server-call.js";

/** Serves a method around everything that serves it otherwise, middleware included. */
export type AroundMethod = (call: ServerCall, next: () => object | Promise<object>) => object | Promise<object>;

/** A method with its handler. */
export interface Route {
  row: MethodRow;
  handler: MethodHandler;
  check: ((call: ServerCall) => void) | undefined;
  around: AroundMethod | undefined;
}

/** What a server offers at the moment: its features, their capabilities, and the handler of each method. */
export class Registry {
  /** What eras tell clients about the server. */
  readonly self: ServerSelf;
  readonly handlers = new Map<string, MethodHandler>();
  readonly checks = new Map<string, (call: ServerCall) => void>();
  /** What extensions do around methods of the protocol. */
  readonly around = new Map<string, AroundMethod>();
  /** By the option of tools that an extension understands: adds to the entry of a tool in lists. Called with every tool, which may still be refused. */
  readonly toolOptions = new Map<string, (tool: ToolOffer, wire: WireTool) => Partial<WireTool>>();
  /** Tells extensions of a tool that was added or replaced; without the tool, that it was removed. */
  toolChanged: ((name: string, tool?: ToolOffer) => void) | undefined;
  /** Removes from a listen filter what its sender may not hear of by extensions. */
  narrowListen: ((filter: Map<string, true | readonly string[]>, call: ServerCall) => Promise<void>) | undefined;
  /** Kinds that come from a handler object; nothing can be added to them. */
  readonly provided = new Set<string>();
  /** Called synchronously whenever the offers change. */
  readonly onChanged: (() => void)[] = [];
  readonly #facts: ServerFacts;
  readonly #features: Feature[] = [];
  readonly #capabilities = new Map<Revision, ServerCapabilities>();
  readonly #routes = new Map<Revision, Map<string, Route>>();

  constructor(facts: ServerFacts) {
    this.#facts = facts;
    this.self = {
      info: facts.info,
      instructions: facts.options.instructions,
      revisions: facts.revisions,
      methods: facts.methods,
      discoverCache: facts.hints.discover,
      capabilities: (revision) => this.capabilities(revision),
    };
  }

  addFeature(feature: Feature): void {
    this.#features.push(feature);
    for (const [method, handler] of Object.entries(feature.handlers)) this.handlers.set(method, handler);
    for (const [method, check] of Object.entries(feature.checks ?? {})) this.checks.set(method, check);
    this.changed();
  }

  /** Discards what was derived from the offers, because they changed. */
  changed(): void {
    this.#capabilities.clear();
    this.#routes.clear();
    for (const listener of this.onChanged) listener();
  }

  /** Whether a kind is declared even while nothing of it is registered. */
  declares(kind: "tools" | "resources" | "prompts"): boolean {
    return this.#facts.options.declare?.includes(kind) === true;
  }

  capabilities(revision: Revision): ServerCapabilities {
    const known = this.#capabilities.get(revision);
    if (known !== undefined) return known;
    const all: ServerCapabilities = {};
    for (const feature of this.#features) addCapabilities(all, feature.capabilities(revision));
    const extensions = declaredExtensions(this.#facts.options.extensions ?? [], revision);
    if (extensions !== undefined) all.extensions = extensions;
    this.#capabilities.set(revision, all);
    return all;
  }

  /** Whether nothing that is offered needs a session. What extensions need is not known. */
  sessionless(): boolean {
    const { extensions = [] } = this.#facts.options;
    return extensions.length === 0 && !this.#features.some(({ needsSession }) => needsSession);
  }

  /** Why capabilities are on or off, where a feature has its own reason. */
  reasons(): Record<string, string> {
    return Object.assign({}, ...this.#features.map((feature) => feature.reasons?.() ?? {})) as Record<string, string>;
  }

  /** The route of a request, if this revision has the method and this server offers it. */
  route(method: string, revision: Revision): Route | undefined {
    const routes = this.#routes.get(revision) ?? this.#routesOf(revision);
    return routes.get(method);
  }

  #checkOf(method: string): Route["check"] {
    const needed = this.#features.some(
      ({ checks, checksNothing = false }) => checks?.[method] !== undefined && !checksNothing,
    );
    return needed ? this.checks.get(method) : undefined;
  }

  #routesOf(revision: Revision): Map<string, Route> {
    const routes = new Map<string, Route>();
    const capabilities = this.capabilities(revision);
    for (const [method, handler] of this.handlers) {
      const row = this.#facts.methods.at(method, revision);
      if (row === undefined || row.kind !== "request" || row.sender === "server") continue;
      if (this.#features.some((feature) => feature.withholds?.(method, capabilities) === true)) continue;
      if (row.capability === undefined || hasCapability(capabilities, row.capability))
        routes.set(method, { row, handler, check: this.#checkOf(method), around: this.around.get(method) });
    }
    this.#routes.set(revision, routes);
    return routes;
  }
}

/** Merges member by member, because two features may declare one capability, for example registered and mounted tools. */
function addCapabilities(all: ServerCapabilities, more: ServerCapabilities): void {
  for (const [name, value] of Object.entries(more)) {
    const known = all[name];
    all[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
  }
}
