import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { Feature, MethodHandler } from "../../server/lists/feature.js";
import { PagedList, pageOf } from "../../server/lists/pages.js";
import type { MountableServer } from "../../server/mount/mount.js";
import { outerResult } from "../../server/mount/mounted-names.js";
import type { Watch } from "../../server/resources/resource.js";
import type { HostCatalogue, ListKind } from "../catalogue/host-catalogue.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { askableOf } from "./askable.js";
import { ParkedCalls } from "./parked-calls.js";
import { callerOf, passOn } from "./pass-on.js";
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

/** Serves the catalogue of a host: lists from what is known of its servers, and everything else by them. */
export class RemoteOffers implements Feature {
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  readonly #own: MountableServer;
  readonly #source: GatewaySource;
  readonly #parked: ParkedCalls<RunningCall>;
  readonly #lists = new Map<ListKind, { items: readonly object[]; list: Listed }>();

  constructor(own: MountableServer, source: GatewaySource) {
    this.#own = own;
    this.#source = source;
    const { platform, limits } = own.facts;
    this.#parked = new ParkedCalls(platform, limits.answerMs, () => own.facts.randomId());
    own.pipeline.closers.push(() => this.#parked.close());
    const base = (method: string) => own.registry.handlers.get(method);
    const lists = Object.keys(LISTS).map((method) => [
      method,
      this.#lister(method as keyof typeof LISTS, base(method)),
    ]);
    this.handlers = {
      ...Object.fromEntries(lists),
      "tools/call": this.#targeted(base("tools/call"), (call) => this.#tool(call)),
      "prompts/get": this.#targeted(base("prompts/get"), (call) => this.#prompt(call)),
      "resources/read": this.#targeted(base("resources/read"), (call) => this.#resource(call)),
      "completion/complete": this.#targeted(base("completion/complete"), (call) => this.#completion(call)),
    };
    own.offers.resources.elsewhere = {
      knows: (uri) => source.catalogue.ownerOf(uri) !== undefined,
      watchOf: (uri) => this.#watchOf(uri),
    };
  }

  capabilities(): ServerCapabilities {
    const changes = this.#own.facts.options.listChanged === false ? {} : { listChanged: true };
    const subscribe = this.#own.facts.options.subscribe === false ? {} : { subscribe: true };
    return { tools: changes, prompts: changes, resources: { ...subscribe, ...changes }, completions: {} };
  }

  #lister(method: keyof typeof LISTS, base: MethodHandler | undefined): MethodHandler {
    const { kind, key } = LISTS[method];
    return async (call) => {
      const { facts } = this.#own;
      const own = ((await base?.(call)) ?? {}) as Record<string, Record<string, unknown>[]>;
      call.cache = facts.hints[kind];
      const remote = this.#source.catalogue.all(kind) as unknown as readonly Record<string, unknown>[];
      const ownItems = own[kind] ?? [];
      const known = this.#lists.get(kind);
      if (ownItems.length === 0 && known?.items === remote) return pageOf(facts, known.list, call.request.params);
      const shape = {
        name: `all ${kind}`,
        keyOf: (item: Record<string, unknown>) => String(item[key]),
        result: (page: Record<string, unknown>[], next: { nextCursor?: string }) => ({ [kind]: page, ...next }),
      };
      const list: Listed = new PagedList(shape, [...ownItems, ...remote]);
      if (ownItems.length === 0) this.#lists.set(kind, { items: remote, list });
      return pageOf(facts, list, call.request.params);
    };
  }

  /** A method about one offer: by the server that has it, or by this one's own handler. */
  #targeted(
    base: MethodHandler | undefined,
    find: (call: ServerCall) => { server: string; params: Params } | undefined,
  ): MethodHandler {
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
    const askable = askableOf(call);
    const connection = await server.connection(askable, callerOf(call), call.signal);
    const { _meta: _own, ...rest } = params;
    const result = await passOn(
      {
        call,
        params: rest,
        askable,
        connection,
        send: (sent, passed, options, extras) =>
          server.request({ method, params: sent, call: passed, options, extras }, connection),
      },
      this.#parked,
    );
    const names = this.#source.catalogue.names(server.name);
    const { resultType: _type, ttlMs, cacheScope, ...shown } = result as Record<string, unknown>;
    if (typeof ttlMs === "number") call.cache = { ttlMs, scope: cacheScope === "public" ? "public" : "private" };
    return names === undefined ? shown : outerResult(names, method, shown);
  }

  #tool(call: ServerCall): { server: string; params: Params } | undefined {
    const { name, arguments: args } = call.request.params;
    if (typeof name !== "string") return undefined;
    const found = this.#source.toolCall(name, args);
    return found && { server: found.server, params: { ...call.request.params, ...found.params } };
  }

  #prompt(call: ServerCall): { server: string; params: Params } | undefined {
    const { name } = call.request.params;
    const found = typeof name === "string" ? this.#source.catalogue.find("prompts", name) : undefined;
    return found && { server: found.server, params: { ...call.request.params, name: found.inner } };
  }

  #resource(call: ServerCall): { server: string; params: Params } | undefined {
    const { uri } = call.request.params;
    const found = typeof uri === "string" ? this.#source.catalogue.ownerOf(uri) : undefined;
    return found && { server: found.server, params: { ...call.request.params, uri: found.inner } };
  }

  #completion(call: ServerCall): { server: string; params: Params } | undefined {
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

  #watchOf(uri: string): Watch | undefined {
    const found = this.#source.catalogue.ownerOf(uri);
    return found && ((_uri, updated) => this.#source.watch(found.server, found.inner, () => updated()));
  }
}
