import type { NotificationMiddleware } from "../era/notification-middleware.js";
import type { InspectHandle, InspectOptions } from "../platform/platform.js";
import { McpError, serverClosed } from "../protocol/error.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { Revision } from "../protocol/revisions.js";
import type { AnySchema, CheckedTool, InferOutput } from "../schema/standard.js";
import type { Endpoint } from "../transport/transport.js";
import { addMethod, type CustomHandler } from "./call/custom-method.js";
import { createEndpoint } from "./call/endpoint.js";
import { ServerConfig } from "./call/facts.js";
import { Layers } from "./call/layers.js";
import { type Middleware, MiddlewareLayer, tapNotifications } from "./call/middleware.js";
import { Observers } from "./call/observers.js";
import type { ListName, PublishedChange } from "./changes/change.js";
import { Hub, publishChange } from "./changes/hub.js";
import { Logging } from "./changes/logging.js";
import { PeerSubscribers } from "./changes/peer-subscriber.js";
import { Subscriptions } from "./changes/subscriptions.js";
import type { Observer } from "./contract/observer.js";
import type { ServerInfo, ServerOptions } from "./contract/options.js";
import type {
  ClientNamedArguments,
  ClientSchemaArguments,
  NamedArguments,
  NamedValues,
  PromptArguments,
  PromptDefinition,
  PromptHandler,
  PromptOffer,
  PromptSchema,
} from "./contract/prompt.js";
import {
  type ReadHandler,
  type ResourceDefinition,
  type ResourceTemplateDefinition,
  resource,
  resourceTemplate,
  type TemplateReadHandler,
} from "./contract/resource.js";
import { type SessionInfo, sessionInfo } from "./contract/session-info.js";
import type { Mounted, Offer, OfferedPrompts, OfferedTools } from "./contract/source.js";
import {
  type ClientArguments,
  type ClientResult,
  type ToolDefinition,
  type ToolHandler,
  type ToolTypes,
  tool,
} from "./contract/tool.js";
import { handlerObjects } from "./handler/handler-objects.js";
import { HandlerSource, handlerArounds, handlerOptions } from "./handler/handler-source.js";
import { HandlerSubscriptions } from "./handler/handler-subscriptions.js";
import type { HandlerServerOptions, ServerHandler, ServerHandlerClass } from "./handler/server-handler.js";
import { callContext } from "./questions/call-context.js";
import { replayed } from "./questions/replayed.js";
import { asking } from "./questions/with-asking.js";
import { type CapabilityReason, explainCapabilities } from "./sources/explain-capabilities.js";
import { JoinedSources } from "./sources/joined.js";
import { mountServer } from "./sources/mount.js";
import type { ServerParts } from "./sources/prefixed.js";
import { resourceUpdated } from "./sources/watch.js";

/** By server, because its parts are not members that users see. */
const PARTS = new WeakMap<object, ServerParts>();

/** The parts of a server. Throws for other values. */
export function partsOf(server: object): ServerParts {
  const parts = PARTS.get(server);
  if (parts !== undefined) return parts;
  throw new McpError("invalid_definition", "this is no `Server` of this copy of the package", {
    fix: "Pass what `new Server(…)` made.",
  });
}

/**
 * Offers tools, resources and prompts to clients. A server holds no connection: one server serves every transport, every
 * revision and any number of clients at once. `D` is the type of `ctx.data`, given as `new Server<{ tenant: string }>(…)`; `T`
 * and `P` are what typed clients learn of its tools and prompts.
 */
// biome-ignore lint/complexity/noBannedTypes: `{}` is the neutral element of the intersection that the chain builds
export class Server<D = Record<string, unknown>, T = {}, P = {}> {
  /** Types only; never present at run time. */
  declare readonly types: { tools: T; prompts: P };
  readonly #facts: ServerConfig;
  readonly #layers: Layers;
  readonly #observers: Observers;
  readonly #middleware = new MiddlewareLayer();
  readonly #hub: Hub;
  readonly #source: JoinedSources;
  readonly #peers: PeerSubscribers;
  readonly #subscriptions: Subscriptions;
  readonly #logging: Logging;
  readonly #parts: ServerParts;
  /** The servers that this one is mounted in, and its endpoint once something serves it. */
  readonly #users = new Set<object>();
  #endpoint: Endpoint | undefined;

  constructor(info: ServerInfo, options: ServerOptions = {}) {
    const facts = new ServerConfig(info, options);
    const middleware = this.#middleware;
    const layers: Layers = new Layers(facts, () => options.instructions ?? source.instructions());
    const hub = new Hub(facts);
    const source: JoinedSources = new JoinedSources(facts, layers, hub);
    this.#facts = facts;
    this.#layers = layers;
    this.#observers = new Observers(facts.platform);
    this.#hub = hub;
    this.#source = source;
    this.#peers = new PeerSubscribers(facts, layers, hub);
    this.#subscriptions = new Subscriptions(facts, layers, hub, source, this.#peers);
    this.#logging = new Logging(facts, this.#peers);
    this.#parts = {
      facts,
      contextOf: callContext,
      usualAsker: (call) => asking().usualAsker(call),
      straight: true,
      get notifications() {
        return layers.all().flatMap((layer) => layer.notifications ?? []);
      },
      layers,
      observers: this.#observers,
      hub,
      source,
      mounted: new Map(),
    };
    PARTS.set(this, this.#parts);
    for (const layer of [
      ...[this.#observers, middleware, replayed],
      ...[this.#peers, source, this.#subscriptions, this.#logging],
    ]) {
      layers.add(layer);
    }
    options.quotas?.attachToServer(this.#parts);
    for (const extension of options.extensions ?? []) extension.attachToServer?.(this.#parts);
    if (options.sources !== undefined) source.addGiven(options.sources);
  }

  /**
   * Creates a server from a handler object, or from a class of which it creates one instance, or with `perSession` one for
   * each session. The methods that exist decide what is offered. `init` is called before the first request or when a
   * session begins, `terminate` by `close` or when the session ends.
   */
  static from<O = undefined>(
    handler: ServerHandler<O> | ServerHandlerClass<O>,
    info: ServerInfo,
    options: HandlerServerOptions<O> = {},
  ): Server {
    const { handlerOptions: _given, perSession: _mode, ...rest } = options;
    const objects = handlerObjects(handler as ServerHandler | ServerHandlerClass<never>, options);
    const parts = { objects, subscriptions: new HandlerSubscriptions(objects) };
    const warn = (line: string) => server.#facts.platform.warn(line);
    const server: Server = new Server(info, handlerOptions(parts, rest, warn));
    const source = new HandlerSource(server.#facts, server.#source.local.toolCalls, objects);
    // Behind all others, because it takes any name for one of its own.
    server.#source.add(source, Number.NEGATIVE_INFINITY);
    server.#layers.add(objects.layer(server.#facts.platform));
    server.#layers.add({
      name: "handler consent",
      stage: "handler object",
      around: handlerArounds(parts),
      reasons: () => source.reasons(),
    });
    return server;
  }

  /** Offers a tool. Throws when the name is taken or a schema cannot be used. */
  tool<const N extends string>(
    name: N,
    handler: ToolHandler<undefined, undefined, D>,
  ): Server<D, T & { [K in N]: ToolTypes<ClientArguments<undefined>, ClientResult<undefined>> }, P>;
  tool<
    const N extends string,
    const I extends AnySchema | undefined = undefined,
    const O extends AnySchema | undefined = undefined,
  >(
    name: N,
    definition: ToolDefinition<I, O> & CheckedTool<I, O>,
    handler: ToolHandler<NoInfer<I>, NoInfer<O>, D>,
  ): Server<D, T & { [K in N]: ToolTypes<ClientArguments<I>, ClientResult<O>> }, P>;
  tool(name: string, ...rest: [definition: object, handler?: unknown]): unknown {
    // The signatures above have checked the arguments; only what the compiler knows of this object grows.
    this.#source.local.add(
      tool(name, ...(rest as unknown as [ToolDefinition, ToolHandler<undefined, undefined>])),
      false,
    );
    return this;
  }

  /** Offers a resource with a fixed URI. Throws when the URI is taken or not valid. */
  resource(uri: string, definition: ResourceDefinition, read: ReadHandler<D>): this {
    // What middleware puts into `ctx.data` is of the type that this server was given.
    this.#source.local.add(resource(uri, definition, read as ReadHandler), false);
    return this;
  }

  /** Offers the resources whose URI matches a template. The handler's variables are typed by the template's text. */
  resourceTemplate<const U extends string>(
    template: U,
    definition: ResourceTemplateDefinition<NoInfer<U>>,
    read: TemplateReadHandler<NoInfer<U>, D>,
  ): this {
    // As for resources.
    this.#source.local.add(resourceTemplate(template, definition, read as TemplateReadHandler<U>), false);
    return this;
  }

  /** Offers a prompt for users to choose. Its arguments are defined by name or by a schema. Throws when the name is taken. */
  prompt<const N extends string, const R>(
    name: N,
    definition: PromptDefinition<NamedArguments<R>>,
    handler: PromptHandler<NamedValues<NoInfer<R>>, D>,
  ): Server<D, T, P & { [K in N]: ClientNamedArguments<R> }>;
  prompt<const N extends string, const S extends PromptSchema>(
    name: N,
    definition: PromptDefinition<S>,
    handler: PromptHandler<InferOutput<NoInfer<S>>, D>,
  ): Server<D, T, P & { [K in N]: ClientSchemaArguments<S> }>;
  prompt(name: string, definition: PromptDefinition<PromptArguments>, handler: PromptOffer["handler"]): unknown {
    this.#source.local.add({ kind: "prompt", name, definition, handler }, false);
    return this;
  }

  /** Offers values made by `tool`, `resource`, `resourceTemplate` and `prompt`. Throws when a name or URI is taken. */
  add<const L extends readonly Offer[]>(...offers: L): Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>> {
    for (const offer of offers) this.#source.local.add(offer, false);
    // The same object: only the types that record what it offers grow.
    return this as unknown as Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>>;
  }

  /** Like `add`, but replaces an offer of the same kind and name. Clients get one notification per list. */
  replace<const L extends readonly Offer[]>(...offers: L): Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>> {
    for (const offer of offers) this.#source.local.add(offer, true);
    // As for `add`.
    return this as unknown as Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>>;
  }

  /** Removes an offer by its name, or by its URI or template for resources. Returns false if there was none. */
  remove(kind: Offer["kind"], name: string): boolean {
    return this.#source.local.remove(kind, name);
  }

  /** Notifies the subscribers of a URI that the resource has changed. */
  resourceUpdated(uri: string): void {
    this.#hub.publish(resourceUpdated(uri));
  }

  /** Notifies clients that a list has changed, for example that of a template's `list`; once per turn of the event loop. */
  listChanged(list: ListName): void {
    this.#hub.listChanged(list);
  }

  /**
   * Serves a method that the protocol does not have: of an extension in `extensions`, or of this server alone. A mounted
   * server's are not part of the outer one. Throws for a method of the protocol and for one that is served already.
   */
  handle(method: string, handler: CustomHandler<D>): this {
    addMethod(this.#facts, this.#layers, method, handler as CustomHandler); // As for resources.
    return this;
  }

  /** Notifies the `subscriptions/listen` requests that ask for a filter of one of the extensions of this server. */
  publish(change: PublishedChange): void {
    publishChange(this.#facts, this.#hub, change);
  }

  /**
   * Sends a log message outside a call, to all clients whose session asks for messages of this level.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    this.#logging.log(level, data, logger);
  }

  /**
   * The clients that are connected at this moment: sessions of HTTP, and pipes, sockets and ports. Requests without either
   * are not among them. With several nodes, each has its own.
   */
  sessions(): SessionInfo[] {
    return [...this.#peers.all()].map(({ peer }) => sessionInfo(peer));
  }

  /** Ends every `subscriptions/listen` with a result, so that clients know the end is not a lost connection. */
  endSubscriptions(): void {
    this.#subscriptions.endAll();
  }

  /**
   * Ends subscriptions, also of the storage, and workers of isolated tools; calls `terminate` of a handler object. Later requests
   * are refused. Transports stay open: close their handles. Closes mounted servers too, unless they are served or mounted elsewhere.
   */
  async close(): Promise<void> {
    this.endSubscriptions();
    const closing = this.#isClosed ? [] : this.#layers.all();
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#layers.add({ name: "closed", stage: "closed", around: () => Promise.reject(serverClosed()) });
    }
    const ends = [this.#hub.close(), ...closing.map(async (layer) => layer.close?.())];
    for (const outcome of await Promise.allSettled(ends)) if (outcome.status === "rejected") throw outcome.reason;
  }

  #isClosed = false;

  /** Explains for every capability whether the server declares it and why, for debugging. Default: the newest revision. */
  explainCapabilities(revision?: Revision): CapabilityReason[] {
    const { revisions, options } = this.#facts;
    const newest = [...revisions].sort().at(-1);
    const capabilities = newest === undefined ? {} : this.#layers.capabilities(revision ?? newest);
    return explainCapabilities(capabilities, options, this.#layers.reasons());
  }

  /**
   * Adds an observer of every call, for metrics and traces. It never gets arguments or results. Without observers calls cost
   * nothing extra. Returns a function that removes the observer.
   */
  observe(observer: Observer): () => void {
    const remove = this.#observers.add(observer, this);
    this.#layers.changed();
    return () => {
      remove();
      this.#layers.changed();
    };
  }

  /**
   * Offers everything that another server offers, now and later, under a prefix: tools and prompts as `prefix_name`,
   * resources with `prefix+` before their URI. Calls stay in this process and pass through the mounted server's own
   * middleware. Limits and tool options are the mounted server's; `secret` and `pageSize` are this server's. Throws when the
   * prefix is taken or a server would contain itself.
   */
  mount<const X extends string, E, U, Q>(
    prefix: X,
    other: Server<E, U, Q>,
  ): Server<D, T & Mounted<X, U>, P & Mounted<X, Q>> {
    mountServer(this.#parts, prefix, other.#parts);
    other.#users.add(this);
    this.#layers.add({
      name: `mount ${prefix}`,
      stage: "served",
      get endsObjects() {
        return other.#layers.all().some(({ endsObjects }) => endsObjects);
      },
      close: () => {
        other.#users.delete(this);
        return other.#users.size === 0 ? other.close() : undefined;
      },
    });
    // As for `add`.
    return this as unknown as Server<D, T & Mounted<X, U>, P & Mounted<X, Q>>;
  }

  /**
   * Opens the inspector on this server: a page in the browser that tries what it offers and shows every message. For development;
   * needs Node and the package `@parley/inspector`, and rejects without them and where `NODE_ENV` is `production`.
   */
  async inspect(options?: InspectOptions): Promise<InspectHandle> {
    const { inspect } = this.#facts.platform;
    if (inspect === undefined) throw new McpError("unsupported", "the inspector needs Node");
    return inspect(this, options);
  }

  /** Adds middleware around every call. The one added first is the outermost. Throws for what is no function. */
  use(...middleware: Middleware<D>[]): this {
    this.#middleware.use(middleware);
    this.#parts.straight = middleware.length === 0 && this.#parts.straight;
    this.#layers.changed();
    return this;
  }

  /** Adds middleware around every notification, in both directions. Throws when the server is served already. */
  useNotifications(...middleware: NotificationMiddleware[]): this {
    this.#middleware.useNotifications(middleware, this.#endpoint);
    return this;
  }

  /** The endpoint that transports serve; the same object every time. */
  endpoint(): Endpoint {
    if (this.#endpoint !== undefined) return this.#endpoint;
    const made = createEndpoint(this.#parts);
    this.#endpoint = tapNotifications(Object.assign(made, { close: () => this.close() }), this.#parts);
    this.#users.add(this.#endpoint);
    return this.#endpoint;
  }
}
