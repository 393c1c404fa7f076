import type { Params } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { OfferKind } from "../../protocol/features/offer-kinds.js";
import type { CallToolResult, Tool } from "../../protocol/features/tools.js";
import type { Feature, MethodHandler } from "../../server/call/feature.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { allPages, ownPage } from "../../server/sources/forward.js";
import type { MountableServer } from "../../server/sources/mount.js";
import { type OfferNames, outerResult } from "../../server/sources/mounted-names.js";
import { PagedList, pageOf } from "../../server/sources/pages.js";
import type { Peer } from "../../transport/transport.js";
import type { FilteredTools } from "../catalogue/tool-filter.js";
import { RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { askableOf } from "./askable.js";
import { clientConnection } from "./client-connection.js";
import { ClientViews } from "./client-views.js";
import { findTarget, type OfferView, type PassedTarget } from "./find-target.js";
import { MetaTools } from "./meta-tools.js";
import { ParkedCalls } from "./parked-calls.js";
import { callerOf, passOn, type SendOn } from "./pass-on.js";
import { passedError } from "./passed-error.js";
import { passedResult } from "./passed-result.js";
import { remoteCapabilities, remoteHint, remoteInstructions } from "./remote-capabilities.js";
import { RemoteResources } from "./remote-resources.js";
import { RemoteTools } from "./remote-tools.js";
import type { RunningCall } from "./running-call.js";

/** What a gateway serves: the catalogue of a host, and its servers by name. */
export interface GatewaySource extends OfferView {
  server(name: string): RemoteServer | undefined;
  /** The tools of a server as clients may see them. */
  filtered?(server: string, tools: readonly Tool[]): FilteredTools;
  /** Tells of updates of a resource until the returned function is called. */
  watch(server: string, uri: string, updated: () => void): () => void;
}

const LISTS = {
  "tools/list": { kind: "tools", key: "name" },
  "prompts/list": { kind: "prompts", key: "name" },
  "resources/list": { kind: "resources", key: "uri" },
  "resources/templates/list": { kind: "resourceTemplates", key: "uriTemplate" },
} as const satisfies Record<string, { kind: OfferKind; key: string }>;

type Listed = PagedList<Record<string, unknown>, object>;

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
  readonly #views: ClientViews;
  /** The servers at which clients have connections of their own. */
  readonly #isolated = new WeakMap<Peer, Set<RemoteServer>>();
  readonly #lists = new Map<OfferKind, { items: readonly object[]; list: Listed }>();

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
      "tools/call": this.#orMeta(this.#targeted(base("tools/call"))),
      "prompts/get": this.#targeted(base("prompts/get")),
      "resources/read": this.#targeted(base("resources/read")),
      "completion/complete": this.#targeted(base("completion/complete")),
    };
    this.#tools = new RemoteTools(own, source.catalogue);
    this.#views = new ClientViews(source, (list) => own.hub.listChanged(list));
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
      const isolated = this.#views.servers();
      const remote = isolated.length === 0 ? this.#entries(kind) : await this.#liveEntries(kind, isolated, call);
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

  /** The entries as the caller sees them. */
  async #liveEntries(
    kind: OfferKind,
    isolated: readonly RemoteServer[],
    call: ServerCall,
  ): Promise<readonly Record<string, unknown>[]> {
    const { catalogue } = this.#source;
    const key = Object.values(LISTS).find((list) => list.kind === kind)?.key ?? "name";
    const names = new Set(isolated.map(({ name }) => name));
    const shared = this.#entries(kind).filter(
      (item) => !names.has(catalogue.find(kind, String(item[key]))?.server ?? ""),
    );
    const views = await Promise.all(isolated.map((server) => this.#viewOf(server, call))).finally(() =>
      leaveUnknown(call, isolated),
    );
    call.cache = { ...call.cache, scope: "private" };
    return [...shared, ...views.flatMap((view) => view.catalogue.all(kind) as unknown as Record<string, unknown>[])];
  }

  /** The entries of all servers; the same list until one of them changes. */
  #entries(kind: OfferKind): readonly Record<string, unknown>[] {
    const { catalogue } = this.#source;
    const entries = kind === "tools" ? this.#tools.entries(catalogue.all(kind)) : catalogue.all(kind);
    return entries as unknown as readonly Record<string, unknown>[];
  }

  /** A method about one offer: by the server that has it, or by this one's own handler. */
  #targeted(base: MethodHandler | undefined): MethodHandler {
    const serve = (call: ServerCall, target: PassedTarget | undefined) => {
      const server = target && this.#source.server(target.server);
      if (target !== undefined && server !== undefined) return this.#pass(call, server, target.params);
      if (base !== undefined) return base(call);
      throw new McpError("invalid_params", "no server of this gateway offers this");
    };
    return (call) => {
      const { method, params } = call.request;
      const isolated = this.#views.servers();
      if (isolated.length > 0) return this.#findLive(call, isolated).then((target) => serve(call, target));
      return serve(call, findTarget(method, params, this.#source));
    };
  }

  /** What the request is for as its caller sees the servers. */
  async #findLive(call: ServerCall, isolated: readonly RemoteServer[]): Promise<PassedTarget | undefined> {
    const { method, params } = call.request;
    const shared = findTarget(method, params, this.#source);
    if (shared !== undefined && !isolated.some(({ name }) => name === shared.server)) return shared;
    let target: PassedTarget | undefined;
    try {
      for (const server of isolated) {
        target = findTarget(method, params, await this.#viewOf(server, call));
        if (target !== undefined) return target;
      }
      return undefined;
    } finally {
      leaveUnknown(
        call,
        isolated.filter(({ name }) => name !== target?.server),
      );
    }
  }

  async #viewOf(server: RemoteServer, call: ServerCall): Promise<OfferView> {
    try {
      return await this.#views.of(server, call);
    } catch (error) {
      // It always throws: only errors of the caller's own request have results that stand for them.
      throw passedError(error, call, { server: server.name, names: undefined, connected: false });
    }
  }

  async #pass(call: ServerCall, server: RemoteServer, params: Params): Promise<object> {
    const { method } = call.request;
    const names = this.#source.catalogue.names(server.name);
    if (method === "tools/call") this.#tools.prepare(String(call.request.params["name"]), call);
    const askable = askableOf(call, server.parts.options.extensions);
    const caller = callerOf(call);
    const rest = method === "tools/call" ? params : withoutMeta(params);
    let connection: RemoteConnection | undefined;
    let result: object;
    try {
      const found = clientConnection(server, call, askable);
      // Without a pause, so that the next call finds this one counted.
      const over = found instanceof RemoteConnection ? found : await found;
      connection = over;
      if (server.parts.isolation === "client") this.#untilGone(call.exchange.peer, server);
      const send: SendOn = (sent, passed, options, forwarded) =>
        server.request({ method, params: sent, call: passed, options, forwarded }, over);
      const answer = await passOn({ call, params: rest, askable, connection, send }, this.#parked);
      result = passedResult(answer, call, server.name);
    } catch (error) {
      return passedError(error, call, { server: server.name, names, connected: connection !== undefined });
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
    const target = findTarget("tools/call", { ...call.request.params, name, arguments: args }, this.#source);
    const server = target && this.#source.server(target.server);
    if (target === undefined || server === undefined) throw new McpError("invalid_params", `unknown tool: ${name}`);
    return this.#pass(call, server, target.params);
  }
}

/** Closes the connections of a caller that is not known by the next request. */
function leaveUnknown(call: ServerCall, servers: readonly RemoteServer[]): void {
  if (callerOf(call) === call.root) for (const server of servers) server.left(call.root);
}

function withoutMeta({ _meta: _own, ...rest }: Params): Params {
  return rest;
}
