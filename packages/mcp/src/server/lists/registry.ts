import type { ServerSelf } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { ServerFacts } from "../call/facts.js";
import type { Feature, MethodHandler } from "./feature.js";

/** A method and what serves it. */
export interface Route {
  row: MethodRow;
  handler: MethodHandler;
}

/** What a server offers by now: its features, what they declare, and who serves which method. */
export class Registry {
  /** What eras say about the server. */
  readonly self: ServerSelf;
  readonly handlers = new Map<string, MethodHandler>();
  /** Kinds that a handler object offers as a whole: nothing can be added to them one by one. */
  readonly provided = new Set<string>();
  /** Told at once when what is offered changed. */
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
    this.changed();
  }

  /** What is offered changed; what was derived from it is made again. */
  changed(): void {
    this.#capabilities.clear();
    this.#routes.clear();
    for (const tell of this.onChanged) tell();
  }

  /** Whether a kind is announced before the first of it is registered. */
  declares(kind: "tools" | "resources" | "prompts"): boolean {
    return this.#facts.options.declare?.includes(kind) === true;
  }

  capabilities(revision: Revision): ServerCapabilities {
    const known = this.#capabilities.get(revision);
    if (known !== undefined) return known;
    const all: ServerCapabilities = {};
    for (const feature of this.#features) addCapabilities(all, feature.capabilities(revision));
    const extensions = this.#facts.options.extensions ?? [];
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
      const row = this.#facts.methods.at(method, revision);
      if (row === undefined || row.kind !== "request" || row.sender === "server") continue;
      if (this.#features.some((feature) => feature.withholds?.(method, capabilities) === true)) continue;
      if (row.capability === undefined || hasCapability(capabilities, row.capability))
        routes.set(method, { row, handler });
    }
    this.#routes.set(revision, routes);
    return routes;
  }
}

/** Several features may speak of one capability, for example what is registered here and what is mounted. */
function addCapabilities(all: ServerCapabilities, more: ServerCapabilities): void {
  for (const [name, value] of Object.entries(more)) {
    const known = all[name];
    all[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
  }
}
