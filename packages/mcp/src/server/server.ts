import type { NotificationMiddleware } from "../era/notification-middleware.js";
import type { InspectHandle, InspectOptions } from "../platform/platform.js";
import { McpError, serverClosed } from "../protocol/error.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { Revision } from "../protocol/revisions.js";
import type { AnySchema, CheckedTool, InferOutput } from "../schema/standard.js";
import type { Endpoint } from "../transport/transport.js";
import { addMethod, type CustomHandler } from "./call/custom-method.js";
import { createEndpoint } from "./call/endpoint.js";
import { Layers } from "./call/layers.js";
import { type Middleware, MiddlewareLayer, tapNotifications } from "./call/middleware.js";
import { Observers } from "./call/observers.js";
import { ServerConfig } from "./call/server-config.js";
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
import type { MountedTypes, Offer, OfferedPrompts, OfferedTools } from "./contract/source.js";
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
import { replayLayer } from "./questions/replay-layer.js";
import { asking } from "./questions/with-asking.js";
import { type CapabilityReason, explainCapabilities } from "./sources/explain-capabilities.js";
import { JoinedSources } from "./sources/joined-sources.js";
import { mountServer } from "./sources/mount.js";
import type { ServerInternals } from "./sources/prefixed-source.js";
import { resourceUpdated } from "./sources/watch.js";

/** Internals by server, so that they are not visible members of `Server`. */
const INTERNALS = new WeakMap<object, ServerInternals>();

/** Returns the internals of a server. Throws for other values. */
export function internalsOf(server: object): ServerInternals {
  const internals = INTERNALS.get(server);
  if (internals !== undefined) return internals;
  throw new McpError("invalid_definition", "this value is not a `Server` of this copy of the package", {
    fix: "Pass a server created with `new Server(…)` from the same copy of the package.",
  });
}

/**
 * Offers tools, resources and prompts to clients. A server is independent of connections: one server serves every
 * transport, every protocol revision and any number of clients at the same time.
 *
 * `D` is the type of `ctx.data`, set with `new Server<{ tenant: string }>(…)`. `T` and `P` collect the types of the tools and
 * prompts for typed clients.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/servers.md | Servers}
 */
// biome-ignore lint/complexity/noBannedTypes: `{}` is the neutral element of the intersection that the chain builds
export class Server<D = Record<string, unknown>, T = {}, P = {}> {
  /** Only for type inference; never present at run time. */
  declare readonly types: { tools: T; prompts: P };
  readonly #config: ServerConfig;
  readonly #layers: Layers;
  readonly #observers: Observers;
  readonly #middleware = new MiddlewareLayer();
  readonly #hub: Hub;
  readonly #source: JoinedSources;
  readonly #peers: PeerSubscribers;
  readonly #subscriptions: Subscriptions;
  readonly #logging: Logging;
  readonly #internals: ServerInternals;
  /**
   * The users of this server: the servers in which it is mounted, and its own endpoint after that is created. An outer
   * server that closes also closes this server if no other user remains.
   */
  readonly #users = new Set<object>();
  #endpoint: Endpoint | undefined;

  /** Creates a server without offers. Throws for unknown or invalid options. */
  constructor(info: ServerInfo, options: ServerOptions = {}) {
    const config = new ServerConfig(info, options);
    const middleware = this.#middleware;
    const layers: Layers = new Layers(config, () => options.instructions ?? source.instructions());
    const hub = new Hub(config);
    const source: JoinedSources = new JoinedSources(config, layers, hub);
    this.#config = config;
    this.#layers = layers;
    this.#observers = new Observers(config.platform);
    this.#hub = hub;
    this.#source = source;
    this.#peers = new PeerSubscribers(config, layers, hub);
    this.#subscriptions = new Subscriptions(config, layers, hub, source, this.#peers);
    this.#logging = new Logging(config, this.#peers);
    this.#internals = {
      config,
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
    INTERNALS.set(this, this.#internals);
    for (const layer of [
      ...[this.#observers, middleware, replayLayer],
      ...[this.#peers, source, this.#subscriptions, this.#logging],
    ]) {
      layers.add(layer);
    }
    options.quotas?.attachToServer(this.#internals);
    for (const extension of options.extensions ?? []) extension.attachToServer?.(this.#internals);
    if (options.sources !== undefined) source.addSources(options.sources);
  }

  /**
   * Creates a server from a handler object, or from a class. The server creates one instance of the class, or one for
   * each session with `perSession`. The methods that the handler has determine the capabilities of the server.
   *
   * `init` is called before the first request, or when a session begins. `terminate` is called by `close`, or when the session ends.
   */
  static from<O = undefined>(
    handler: ServerHandler<O> | ServerHandlerClass<O>,
    info: ServerInfo,
    options: HandlerServerOptions<O> = {},
  ): Server {
    const { handlerOptions: _given, perSession: _mode, ...rest } = options;
    const objects = handlerObjects(handler as ServerHandler | ServerHandlerClass<never>, options);
    const services = { objects, subscriptions: new HandlerSubscriptions(objects) };
    const warn = (line: string) => server.#config.platform.warn(line);
    const server: Server = new Server(info, handlerOptions(services, rest, warn));
    const source = new HandlerSource(server.#config, server.#source.local.toolCalls, objects);
    // The handler's source is searched last, because it accepts every name.
    server.#source.add(source, Number.NEGATIVE_INFINITY);
    server.#layers.add(objects.layer(server.#config.platform));
    server.#layers.add({
      name: "handler consent",
      stage: "handler object",
      around: handlerArounds(services),
      reasons: () => source.reasons(),
    });
    return server;
  }

  /**
   * Registers a tool. Throws if the name is taken or a schema is not usable. Returns this server, typed with the tool.
   */
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
    // The signatures above have checked the arguments. The returned object is the same; only its type grows.
    this.#source.local.add(
      tool(name, ...(rest as unknown as [ToolDefinition, ToolHandler<undefined, undefined>])),
      false,
    );
    return this;
  }

  /** Registers a resource with a fixed URI. Throws if the URI is taken or not valid. */
  resource(uri: string, definition: ResourceDefinition, read: ReadHandler<D>): this {
    // The cast is safe: middleware fills `ctx.data` with values of the server's type `D`.
    this.#source.local.add(resource(uri, definition, read as ReadHandler), false);
    return this;
  }

  /**
   * Registers a template for resources whose URI matches it. The text of the template determines the type of the
   * handler's variables. Throws if the template is taken or not valid.
   */
  resourceTemplate<const U extends string>(
    template: U,
    definition: ResourceTemplateDefinition<NoInfer<U>>,
    read: TemplateReadHandler<NoInfer<U>, D>,
  ): this {
    // Safe for the same reason as the cast in `resource`.
    this.#source.local.add(resourceTemplate(template, definition, read as TemplateReadHandler<U>), false);
    return this;
  }

  /**
   * Registers a prompt, which users choose in the client. Its arguments are defined by name or by one schema. Throws if
   * the name is taken. Returns this server, typed with the prompt.
   */
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

  /**
   * Registers values created by `tool`, `resource`, `resourceTemplate` and `prompt`. Throws if a name or URI is taken.
   * Returns this server, typed with the offers.
   */
  add<const L extends readonly Offer[]>(...offers: L): Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>> {
    for (const offer of offers) this.#source.local.add(offer, false);
    // The same object; only its type grows.
    return this as unknown as Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>>;
  }

  /** Like `add`, but replaces registered offers of the same kind and name. Clients get one notification per list. */
  replace<const L extends readonly Offer[]>(...offers: L): Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>> {
    for (const offer of offers) this.#source.local.add(offer, true);
    // The same cast as for `add`.
    return this as unknown as Server<D, T & OfferedTools<L>, P & OfferedPrompts<L>>;
  }

  /**
   * Removes an offer by its name. The name of a resource is its URI, and the name of a resource template is its text.
   * Returns false if the offer does not exist.
   */
  remove(kind: Offer["kind"], name: string): boolean {
    return this.#source.local.remove(kind, name);
  }

  /** Notifies the subscribers of a URI that the resource has changed. */
  resourceUpdated(uri: string): void {
    this.#hub.publish(resourceUpdated(uri));
  }

  /**
   * Notifies clients that a list has changed, for example because a template's `list` returns other resources. Sends at
   * most one notification per list and turn of the event loop.
   */
  listChanged(list: ListName): void {
    this.#hub.listChanged(list);
  }

  /**
   * Serves a method that the protocol does not define: a method of an extension in `extensions`, or a custom method. If
   * this server is mounted, the outer server does not serve the method. Throws for methods of the protocol and for
   * methods that are already served.
   */
  handle(method: string, handler: CustomHandler<D>): this {
    addMethod(this.#config, this.#layers, method, handler as CustomHandler); // The cast is safe for the same reason as in `resource`.
    return this;
  }

  /**
   * Publishes a change to the `subscriptions/listen` requests that have subscribed to it. Throws unless an extension of
   * this server adds the filter of the change.
   */
  publish(change: PublishedChange): void {
    publishChange(this.#config, this.#hub, change);
  }

  /**
   * Sends a log message outside a call, to all clients whose session wants messages of this level.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    this.#logging.log(level, data, logger);
  }

  /**
   * Returns the clients that are connected now: HTTP sessions, and the peers of pipes, sockets and ports. Clients that
   * send single HTTP requests without a session are not included. With several nodes, each node returns its own
   * clients.
   */
  sessions(): SessionInfo[] {
    return [...this.#peers.all()].map(({ peer }) => sessionInfo(peer));
  }

  /**
   * Ends every `subscriptions/listen` request with a result, so that clients do not mistake the end for a lost
   * connection.
   */
  endSubscriptions(): void {
    this.#subscriptions.endAll();
  }

  /**
   * Closes the server. Ends all subscriptions, including those to the storage, stops the workers of isolated tools,
   * calls `terminate` of handler objects, and refuses later requests.
   *
   * Transports stay open: close their handles. Also closes mounted servers, unless another server or a transport uses them.
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

  /**
   * Explains for every capability whether the server declares it, and why. For debugging. Default `revision`: the
   * newest revision that the server supports.
   */
  explainCapabilities(revision?: Revision): CapabilityReason[] {
    const { revisions, options } = this.#config;
    const newest = [...revisions].sort().at(-1);
    const capabilities = newest === undefined ? {} : this.#layers.capabilities(revision ?? newest);
    return explainCapabilities(capabilities, options, this.#layers.reasons());
  }

  /**
   * Adds an observer of all calls, for metrics and traces. Observers never get arguments or results. Without observers,
   * calls have no extra cost. Returns a function that removes the observer.
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
   * Offers everything that another server offers, now and later, under a prefix. Tools and prompts get the name
   * `prefix_name`. Resources get `prefix+` in front of their URI, and tool pages get `prefix+` after `ui://`. Throws if
   * the prefix is taken, or if a server would contain itself.
   *
   * Calls stay in this process and pass through the mounted server's own middleware. The mounted server's limits and tool
   * options apply, but `secret` and `pageSize` come from this server.
   */
  mount<const X extends string, E, U, Q>(
    prefix: X,
    other: Server<E, U, Q>,
  ): Server<D, T & MountedTypes<X, U>, P & MountedTypes<X, Q>> {
    mountServer(this.#internals, prefix, other.#internals);
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
    // The same cast as for `add`.
    return this as unknown as Server<D, T & MountedTypes<X, U>, P & MountedTypes<X, Q>>;
  }

  /**
   * Opens the inspector on this server: a web page that calls the offers and shows every message. For development only.
   * Needs Node and the package `@parley/inspector`. Rejects if one of them is missing, and if `NODE_ENV` is
   * `production`.
   */
  async inspect(options?: InspectOptions): Promise<InspectHandle> {
    const { inspect } = this.#config.platform;
    if (inspect === undefined) throw new McpError("unsupported", "the inspector needs Node");
    return inspect(this, options);
  }

  /**
   * Adds middleware around every call. The middleware that was added first is the outermost. Throws for values that are
   * not functions.
   */
  use(...middleware: Middleware<D>[]): this {
    this.#middleware.use(middleware);
    this.#internals.straight = middleware.length === 0 && this.#internals.straight;
    this.#layers.changed();
    return this;
  }

  /**
   * Adds middleware around every notification, in both directions. Throws if a transport already serves the server.
   */
  useNotifications(...middleware: NotificationMiddleware[]): this {
    this.#middleware.useNotifications(middleware, this.#endpoint);
    return this;
  }

  /** Returns the endpoint that transports serve. Always the same object. */
  endpoint(): Endpoint {
    if (this.#endpoint !== undefined) return this.#endpoint;
    const made = createEndpoint(this.#internals);
    this.#endpoint = tapNotifications(Object.assign(made, { close: () => this.close() }), this.#internals);
    this.#users.add(this.#endpoint);
    return this.#endpoint;
  }
}
