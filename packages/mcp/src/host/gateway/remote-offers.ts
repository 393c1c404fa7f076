import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult } from "../../protocol/features/tools.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { Feature, MethodHandler } from "../../server/lists/feature.js";
import { PagedList, pageOf } from "../../server/lists/pages.js";
import { allPages, ownPage } from "../../server/mount/forward.js";
import type { MountableServer } from "../../server/mount/mount.js";
import { type OfferNames, outerResult } from "../../server/mount/mounted-names.js";
import type { Peer } from "../../transport/transport.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import type { ListKind } from "../catalogue/server-lists.js";
import type { RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { askableOf } from "./askable.js";
import { MetaTools } from "./meta-tools.js";
import { ParkedCalls } from "./parked-calls.js";
import { callerOf, passOn, type SendOn } from "./pass-on.js";
import { passedError } from "./passed-error.js";
import { remoteCapabilities, remoteHint, remoteInstructions } from "./remote-capabilities.js";
import { RemoteResources } from "./remote-resources.js";
import { RemoteTools } from "./remote-tools.js";
import type { RunningCall } from "./running-call.js";

/** What a gateway serves: the catalogue of a host, and its servers by name. */
export interface GatewaySource {
  readonly catalogue: HostCatalogue;
  server(name: string): RemoteServer | undefined;
  /** Prepares the arguments of a tool, which a filter may have hidden in part. */
  toolCall(outer: string, args: unknown): { server: string; params: Params } | undefined;
  /** Tells of updates of a resource until the returned function is called. */
  watch(server: string, uri: string, updated: () => void): () => void;
}

const LISTS = {
  "tools/list": { kind: "tools", key: "name" },
  "prompts/list": { kind: "prompts", key: "name" },
  "resources/list": { kind: "resources", key: "uri" },
  "resources/templates/list": { kind: "resourceTemplates", key: "uriTemplate" },
} as const satisfies Record<string, { kind: ListKind; key: string }>;

type Listed = PagedList<Record<string, unknown>, object>;

/** What a request is for, and what it is sent with. */
interface PassedTarget {
  readonly server: string;
  readonly params: Params;
}

/** Serves the catalogue of a host: lists from what is known of its servers, and everything else by them. */
export class RemoteOffers implements Feature {
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  readonly checks: NonNullable<Feature["checks"]>;
  readonly #own: MountableServer;
  readonly #source: GatewaySource;
  readonly #parked: ParkedCalls<RunningCall>;
  readonly #tools: RemoteTools;
  /** Stands for all tools, if clients are to search them. */
  readonly #meta: MetaTools<ServerCall> | undefined;
  /** The servers at which clients have connections of their own. */
  readonly #isolated = new WeakMap<Peer, Set<RemoteServer>>();
  readonly #lists = new Map<ListKind, { items: readonly object[]; list: Listed }>();

  constructor(own: MountableServer, source: GatewaySource, searched = false) {
    this.#own = own;
    this.#source = source;
    const { platform, limits, options } = own.facts;
    this.#parked = new ParkedCalls(platform, limits.answerMs, () => own.facts.randomId());
    own.pipeline.closers.push(() => this.#parked.close());
    const base = (method: string) => own.registry.handlers.get(method);
    const lists = Object.keys(LISTS).map((method) => [
      method,
      this.#lister(method as keyof typeof LISTS, base(method)),
    ]);
    this.handlers = {
      ...Object.fromEntries(lists),
      "tools/call": this.#orMeta(
        this.#targeted(base("tools/call"), (call) => {
          const { name, arguments: args } = call.request.params;
          return this.#tool(call, name, args);
        }),
      ),
      "prompts/get": this.#targeted(base("prompts/get"), (call) => this.#prompt(call)),
      "resources/read": this.#targeted(base("resources/read"), (call) => this.#resource(call)),
      "completion/complete": this.#targeted(base("completion/complete"), (call) => this.#completion(call)),
    };
    this.#tools = new RemoteTools(own, source.catalogue);
    if (searched) {
      this.#meta = new MetaTools({
        tools: () => source.catalogue.all("tools"),
        serverOf: ({ name }) => source.catalogue.find("tools", name)?.server ?? "",
        // What tools give is checked by whoever made the call.
        callTool: (name, args, call) => this.#called(call, name, args) as Promise<CallToolResult>,
      });
    }
    const checkOwn = own.registry.checks.get("tools/call");
    this.checks = {
      "tools/call": (call) => {
        checkOwn?.(call);
        this.#tools.check(call);
      },
    };
    own.offers.resources.elsewhere = new RemoteResources(source);
    if (options.instructions === undefined) {
      // What the servers say is known when they are connected, and may change with each connection.
      Object.defineProperty(own.registry.self, "instructions", { get: () => remoteInstructions(source.catalogue) });
    }
  }

  capabilities(): ServerCapabilities {
    return remoteCapabilities(this.#own.facts, this.#source.catalogue);
  }

  #lister(method: keyof typeof LISTS, base: MethodHandler | undefined): MethodHandler {
    const { kind, key } = LISTS[method];
    const shape = {
      name: `all ${kind}`,
      keyOf: (item: Record<string, unknown>) => String(item[key]),
      result: (page: Record<string, unknown>[], next: { nextCursor?: string }) => ({ [kind]: page, ...next }),
    };
    return async (call) => {
      const { facts } = this.#own;
      const { catalogue } = this.#source;
      const { params } = call.request;
      if (kind === "tools") this.#tools.learn();
      const own = base === undefined ? [] : await allPages(params, (page) => ownPage(call, base, page));
      // Each page is that of a list of this kind.
      const ownItems = own.flatMap(({ result }) => (result as Record<string, Record<string, unknown>[]>)[kind] ?? []);
      call.cache = remoteHint(facts, catalogue, kind);
      const remote = this.#entries(kind);
      const known = this.#lists.get(kind);
      if (ownItems.length === 0 && known?.items === remote) return pageOf(facts, known.list, params);
      const meta = kind === "tools" ? this.#meta?.tools() : undefined;
      // Definitions are JSON objects.
      const shown = (meta as Record<string, unknown>[] | undefined) ?? remote;
      const list: Listed = new PagedList(shape, [...ownItems, ...shown]);
      if (ownItems.length === 0) this.#lists.set(kind, { items: remote, list });
      return pageOf(facts, list, params);
    };
  }

  /** The entries of all servers; the same list until one of them changes. */
  #entries(kind: ListKind): readonly Record<string, unknown>[] {
    const { catalogue } = this.#source;
    const entries = kind === "tools" ? this.#tools.entries(catalogue.all(kind)) : catalogue.all(kind);
    return entries as unknown as readonly Record<string, unknown>[];
  }

  /** A method about one offer: by the server that has it, or by this one's own handler. */
  #targeted(base: MethodHandler | undefined, find: (call: ServerCall) => PassedTarget | undefined): MethodHandler {
    return (call) => {
      const target = find(call);
      const server = target && this.#source.server(target.server);
      if (target !== undefined && server !== undefined) return this.#pass(call, server, target.params);
      if (base !== undefined) return base(call);
      throw new McpError("invalid_params", "no server of this gateway offers this");
    };
  }

  async #pass(call: ServerCall, server: RemoteServer, params: Params): Promise<object> {
    const { method } = call.request;
    const names = this.#source.catalogue.names(server.name);
    const askable = askableOf(call, server.parts.options.extensions);
    const caller = callerOf(call);
    const { _meta: _own, task: _task, ...rest } = params;
    let connection: RemoteConnection | undefined;
    let result: object;
    try {
      const over = await server.connection(askable, caller, call.exchange.signal);
      connection = over;
      if (server.parts.isolation === "client") this.#untilGone(call.exchange.peer, server);
      const send: SendOn = (sent, passed, options, extras) =>
        server.request({ method, params: sent, call: passed, options, extras }, over);
      result = await passOn({ call, params: rest, askable, connection, send }, this.#parked);
    } catch (error) {
      return passedError(error, call, server.name, names);
    } finally {
      // Nobody known comes back for a connection of its own, unless the call goes on for its next round.
      if (caller === call.root && connection?.running === 0) server.left(caller);
    }
    return this.#shown(call, names, result);
  }

  /** Closes the connections that a client has for itself when it is gone. */
  #untilGone(peer: Peer | undefined, server: RemoteServer): void {
    if (peer?.onEnded === undefined) return;
    const known = this.#isolated.get(peer) ?? new Set();
    this.#isolated.set(peer, known);
    if (known.has(server)) return;
    known.add(server);
    peer.onEnded(() => server.left(peer));
  }

  /** The result as the caller sees it. */
  #shown(call: ServerCall, names: OfferNames | undefined, result: object): object {
    const { resultType: _type, ttlMs, cacheScope, ...shown } = result as Record<string, unknown>;
    if (typeof ttlMs === "number") call.cache = { ttlMs, scope: cacheScope === "public" ? "public" : "private" };
    return names === undefined ? shown : outerResult(names, call.request.method, shown);
  }

  /** The three tools that stand for all others, where clients search. */
  #orMeta(handler: MethodHandler): MethodHandler {
    return (call) => {
      const { name } = call.request.params;
      if (typeof name !== "string" || this.#meta?.has(name) !== true) return handler(call);
      return this.#meta.call(name, call.objectParam("arguments"), call);
    };
  }

  #called(call: ServerCall, name: string, args: Record<string, unknown> | undefined): Promise<object> {
    const target = this.#tool(call, name, args);
    const server = target && this.#source.server(target.server);
    if (target === undefined || server === undefined) throw new McpError("invalid_params", `unknown tool: ${name}`);
    return this.#pass(call, server, target.params);
  }

  #tool(call: ServerCall, name: unknown, args: unknown): PassedTarget | undefined {
    if (typeof name !== "string") return undefined;
    const found = this.#source.toolCall(name, args);
    if (found === undefined) return undefined;
    this.#tools.prepare(name, call);
    const { arguments: _given, ...rest } = call.request.params;
    return { server: found.server, params: { ...rest, ...found.params } };
  }

  #prompt(call: ServerCall): PassedTarget | undefined {
    const { name } = call.request.params;
    const found = typeof name === "string" ? this.#source.catalogue.find("prompts", name) : undefined;
    return found && { server: found.server, params: { ...call.request.params, name: found.inner } };
  }

  #resource(call: ServerCall): PassedTarget | undefined {
    const { uri } = call.request.params;
    const found = typeof uri === "string" ? this.#source.catalogue.ownerOf(uri) : undefined;
    return found && { server: found.server, params: { ...call.request.params, uri: found.inner } };
  }

  #completion(call: ServerCall): PassedTarget | undefined {
    const { ref } = call.request.params;
    if (!isObject(ref)) return undefined;
    const { catalogue } = this.#source;
    if (ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
      const found = catalogue.find("prompts", ref["name"]);
      return found && { server: found.server, params: { ...call.request.params, ref: { ...ref, name: found.inner } } };
    }
    if (typeof ref["uri"] !== "string") return undefined;
    const found = catalogue.find("resourceTemplates", ref["uri"]) ?? catalogue.ownerOf(ref["uri"]);
    return found && { server: found.server, params: { ...call.request.params, ref: { ...ref, uri: found.inner } } };
  }
}
