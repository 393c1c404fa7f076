import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { ServerSelf } from "../../era/era.js";
import type { NotificationMiddleware } from "../../era/notification-middleware.js";
import { isObject, type NotificationMessage } from "../../jsonrpc/message.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { declaredExtensions } from "../../protocol/extension.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Revision } from "../../protocol/revisions.js";
import type { Endpoint, Peer } from "../../transport/transport.js";
import type { ToolOffer } from "../contract/tool.js";
import type { MethodHandler, ServerCall } from "./server-call.js";
import type { ServerConfig } from "./server-config.js";

/** Runs around a call. `next` runs the inner layers and the handler. Pass the same call to `next`. */
export type Around = (call: ServerCall, next: MethodHandler) => MaybePromise<object>;

/** The order of layers, outermost first. Layers of one stage run in the order in which they were added. */
const STAGES = [
  "observed",
  "closed",
  "prepared",
  "limited",
  "extension",
  "handler object",
  "middleware",
  "served",
  "replayed",
] as const;

/**
 * A part of a server that runs around calls, serves methods, or follows the connections of clients. Only `name` and
 * `stage` are required.
 */
export interface Layer extends Partial<Pick<Endpoint, "opened" | "closed" | "sessionChanged">> {
  /** Identifies the layer among the layers of its stage. The name of an extension's layer is the extension's id. */
  readonly name: string;
  readonly stage: (typeof STAGES)[number];
  /** Runs around every call, or around calls of the listed methods. */
  readonly around?: Around | Readonly<Record<string, Around>> | undefined;
  /** The handlers of the methods that this layer serves. */
  readonly handlers?: Readonly<Record<string, MethodHandler>>;
  /** Checks that run before anything slow, by method. An error thrown here can still set the HTTP status. */
  readonly checks?: Readonly<Record<string, (call: ServerCall) => void>>;
  /** Returns the capabilities that this layer adds; `{}` while the layer is not in use. */
  capabilities?(revision: Revision): ServerCapabilities;
  /**
   * Returns explanations of capabilities, by the path of the capability, where the general explanation does not apply.
   */
  reasons?(): Readonly<Record<string, string>>;
  /** True for a method that has nothing to serve with these capabilities. Clients then receive "method not found". */
  withholds?(method: string, capabilities: ServerCapabilities): boolean;
  /** True if this layer needs sessions in revisions that have them. Read at every handshake. */
  readonly needsSession?: boolean;
  /** Middleware around every notification, in both directions. */
  readonly notifications?: readonly NotificationMiddleware[];
  /** Adds members to the list entries of tools. The keys are the tool options that the layer supports. */
  readonly toolOptions?: Readonly<Record<string, (tool: ToolOffer, wire: Tool) => Partial<Tool>>>;
  /** Called after a tool was added, replaced or removed. `tool` is undefined if the tool was removed. */
  toolChanged?(name: string, tool: ToolOffer | undefined): void;
  /** Removes from a listen filter everything that the sender of the filter may not be notified of. */
  narrowListen?(filter: Map<string, true | readonly string[]>, call: ServerCall): Promise<void>;
  /** Limits for the sessions and streams that transports open. */
  readonly places?: Pick<Endpoint, "sessionPlaces" | "takeStream">;
  /** True if the layer has objects that must be ended with their session or with the server. */
  readonly endsObjects?: boolean;
  notification?(message: NotificationMessage, peer: Peer): void;
  /** Called once when the server closes. */
  close?(): void | Promise<void>;
}

/** A function that runs around a call, with the layer that it belongs to. */
export interface LayerStep {
  readonly around: Around;
  readonly layer: Layer;
}

/** A method with its handler and the layers around it. */
export interface Route {
  readonly row: MethodRow;
  readonly handler: MethodHandler;
  readonly check: ((call: ServerCall) => void) | undefined;
  readonly steps: readonly LayerStep[];
}

/**
 * The layers of one server in their order, and everything derived from them: routes, capabilities, the description of
 * the server for clients.
 */
export class Layers {
  /** The description of the server that eras send to clients. */
  readonly self: ServerSelf;
  readonly #config: ServerConfig;
  #layers: readonly Layer[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #capabilities = new Map<Revision, ServerCapabilities>();
  readonly #routes = new Map<Revision, Map<string, Route>>();
  readonly #steps = new Map<string, readonly LayerStep[]>();

  constructor(config: ServerConfig, instructions: () => string | undefined) {
    this.#config = config;
    const { info, revisions, methods, hints } = config;
    this.self = {
      info,
      get instructions() {
        return instructions();
      },
      revisions,
      methods,
      discoverCache: hints.discover,
      capabilities: (revision) => this.capabilities(revision),
    };
  }

  /** Adds a layer after the existing layers of its stage. */
  add(layer: Layer): void {
    const rank = ({ stage }: Layer) => STAGES.indexOf(stage);
    this.#layers = [...this.#layers, layer].sort((a, b) => rank(a) - rank(b));
    this.changed();
  }

  all(): readonly Layer[] {
    return this.#layers;
  }

  /** Discards everything derived from layers and offers after a change, and calls the listeners. */
  changed(): void {
    this.#capabilities.clear();
    this.#routes.clear();
    this.#steps.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  capabilities(revision: Revision): ServerCapabilities {
    const known = this.#capabilities.get(revision);
    if (known !== undefined) return known;
    const all: ServerCapabilities = {};
    for (const layer of this.#layers) mergeCapabilities(all, layer.capabilities?.(revision) ?? {});
    const extensions = declaredExtensions(this.#config.options.extensions ?? [], revision);
    if (extensions !== undefined) all.extensions = extensions;
    this.#capabilities.set(revision, all);
    return all;
  }

  /** True if no current offer needs a session. False with extensions, because their needs are unknown. */
  sessionless(): boolean {
    const { extensions = [] } = this.#config.options;
    return extensions.length === 0 && !this.#layers.some(({ needsSession }) => needsSession);
  }

  /** The reasons that layers give for capabilities. */
  reasons(): Record<string, string> {
    return Object.assign({}, ...this.#layers.map((layer) => layer.reasons?.() ?? {})) as Record<string, string>;
  }

  /**
   * Returns the route of a request; undefined if this revision does not have the method or this server does not offer
   * it.
   */
  route(method: string, revision: Revision): Route | undefined {
    const routes = this.#routes.get(revision) ?? this.#routesOf(revision);
    return routes.get(method);
  }

  /** Returns the layers around a method. */
  stepsOf(method: string): readonly LayerStep[] {
    let steps = this.#steps.get(method);
    if (steps === undefined) {
      steps = this.#layers.flatMap((layer): LayerStep[] => {
        const around = typeof layer.around === "object" ? layer.around[method] : layer.around;
        return around === undefined ? [] : [{ around, layer }];
      });
      this.#steps.set(method, steps);
    }
    return steps;
  }

  /** True if a layer serves the method. */
  serves(method: string): boolean {
    return this.#layers.some(({ handlers }) => handlers !== undefined && Object.hasOwn(handlers, method));
  }

  #routesOf(revision: Revision): Map<string, Route> {
    const routes = new Map<string, Route>();
    const capabilities = this.capabilities(revision);
    for (const { handlers = {}, checks } of this.#layers) {
      for (const [method, handler] of Object.entries(handlers)) {
        const row = this.#config.methods.at(method, revision);
        if (row === undefined || row.kind !== "request" || row.sender === "server") continue;
        if (row.capability !== undefined && !hasCapability(capabilities, row.capability)) continue;
        if (this.#layers.some((layer) => layer.withholds?.(method, capabilities) === true)) continue;
        routes.set(method, { row, handler, check: checks?.[method], steps: this.stepsOf(method) });
      }
    }
    this.#routes.set(revision, routes);
    return routes;
  }
}

/**
 * Merges member by member, because two layers or sources may declare the same capability, for example for registered
 * and for mounted tools.
 */
export function mergeCapabilities(all: ServerCapabilities, more: ServerCapabilities): void {
  for (const [name, value] of Object.entries(more)) {
    const known = all[name];
    // An earlier source has withheld this capability by setting it to undefined, so later sources do not add it.
    if (known === undefined && Object.hasOwn(all, name)) continue;
    all[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
  }
}
