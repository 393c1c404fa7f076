import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { CacheHint } from "../../era/era.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError, resourceNotFound } from "../../protocol/error.js";
import { kindsOf, OFFER_KINDS, type OfferCapability, type OfferKind } from "../../protocol/features/offer-kinds.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { cacheHints } from "../../server/contract/cache-hints.js";
import type { ServerOptions } from "../../server/contract/options.js";
import type { Watch } from "../../server/contract/resource.js";
import type { FoundOffer, OfferItems, OfferList, Source } from "../../server/contract/source.js";
import type { TaskSupport } from "../../server/contract/tool.js";
import { type OfferNames, outerResult } from "../../server/sources/names.js";
import type { Peer } from "../../transport/transport.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import { narrowest } from "../catalogue/server-lists.js";
import { matchesTemplate } from "../catalogue/template-matches.js";
import { ToolFilter, type ToolFilterOptions } from "../catalogue/tool-filter.js";
import { RemoteConnection } from "../connection/remote-connection.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { askableOf } from "./askable.js";
import { clientConnection } from "./client-connection.js";
import { ClientViews } from "./client-views.js";
import { ParkedCalls } from "./parked-calls.js";
import { callerOf, passOn, type SendOn } from "./pass-on.js";
import { passedError } from "./passed-error.js";
import { passedResult } from "./passed-result.js";
import type { RunningCall } from "./running-call.js";

/** The servers that a gateway passes calls on to, and what is known of them. */
export interface GatewayHost {
  readonly catalogue: HostCatalogue;
  find(name: string): GatewayTarget | undefined;
  /** Calls `listener` when lists have changed, until the returned function is called. */
  onChanged(listener: (lists: readonly OfferCapability[]) => void): () => void;
}

/** One server behind a gateway. */
export interface GatewayTarget {
  readonly remote: RemoteServer;
  readonly parts: { readonly filter: ToolFilterOptions };
  readonly tools: { innerCall(name: string, args: Record<string, unknown> | undefined): InnerToolCall };
  watch(uri: string, updated: () => void): () => void;
}

interface InnerToolCall {
  readonly name: string;
  readonly args: Record<string, unknown> | undefined;
}

/** The offers of servers as one caller sees them. */
export interface OfferView {
  readonly catalogue: HostCatalogue;
  /** The name and arguments of a tool as its server knows them, which a filter may have hidden in part. */
  innerCall(server: string, name: string, args: Record<string, unknown> | undefined): InnerToolCall;
}

/** Characters of all instructions together; models get them with every conversation. */
const MAX_INSTRUCTIONS = 32_768;

/** The offers of the servers of a host: lists from what is known of them, everything else by the servers themselves. */
export class HostSource implements Source {
  readonly #host: GatewayHost;
  readonly #options: ServerOptions;
  readonly #hints: ReturnType<typeof cacheHints>;
  readonly #shared: OfferView;
  readonly #views: ClientViews;
  readonly #listeners = new Set<(kinds: readonly OfferKind[]) => void>();
  readonly #lists = new Map<OfferKind, { entries: readonly object[]; list: OfferList }>();
  readonly #watches = new Map<string, Watch>();
  /** The servers at which clients have connections of their own. */
  readonly #isolated = new WeakMap<Peer, Set<RemoteServer>>();
  #parked: ParkedCalls<RunningCall> | undefined;

  constructor(host: GatewayHost, options: ServerOptions) {
    this.#host = host;
    this.#options = options;
    this.#hints = cacheHints(options.cache);
    this.#shared = {
      catalogue: host.catalogue,
      innerCall: (server, name, args) => host.find(server)?.tools.innerCall(name, args) ?? { name, args },
    };
    this.#views = new ClientViews({
      catalogue: host.catalogue,
      server: (name) => host.find(name)?.remote,
      filtered: (name, tools) => new ToolFilter(host.find(name)?.parts.filter ?? {}).apply(name, tools),
      changed: (list) => this.#changed([list]),
    });
  }

  /** The capabilities that the servers declare together; of what none of them has, nothing. */
  capabilities(): ServerCapabilities {
    const { listChanged, logging, subscribe } = this.#options;
    const { catalogue } = this.#host;
    const changes = listChanged === false ? {} : { listChanged: true };
    const all: ServerCapabilities = {};
    let logs = logging === true;
    for (const server of catalogue.servers()) {
      const declared = catalogue.of(server).about?.capabilities ?? {};
      if (declared.tools !== undefined) all.tools = changes;
      if (declared.prompts !== undefined) all.prompts = changes;
      if (declared.completions !== undefined) all.completions = {};
      if (declared.logging !== undefined) logs = logging !== false;
      if (declared.resources === undefined) continue;
      const subscribes = declared.resources.subscribe === true && subscribe !== false ? { subscribe: true } : {};
      all.resources = { ...all.resources, ...changes, ...subscribes };
    }
    // Every server declares it by default; this one has nothing to log unless it is said.
    return logs ? all : { ...all, ...({ logging: undefined } as object) };
  }

  /** The instructions of all servers, each under its name where there are several. */
  instructions(): string | undefined {
    const { catalogue } = this.#host;
    const given = [...catalogue.servers()].flatMap((server) => {
      const text = catalogue.of(server).about?.instructions;
      return text === undefined || text.trim() === "" ? [] : [{ server, text }];
    });
    const [first] = given;
    if (first === undefined) return undefined;
    const several = [...catalogue.servers()].length > 1;
    const joined = several ? given.map(({ server, text }) => `# ${server}\n\n${text}`).join("\n\n") : first.text;
    return joined.slice(0, MAX_INSTRUCTIONS);
  }

  onChange(listener: (kinds: readonly OfferKind[]) => void): () => void {
    this.#listeners.add(listener);
    const end = this.#host.onChanged((lists) => this.#changed(lists));
    return () => {
      this.#listeners.delete(listener);
      end();
    };
  }

  #changed(lists: readonly OfferCapability[]): void {
    for (const listener of this.#listeners) listener(lists.flatMap(kindsOf));
  }

  watchOf(uri: string): Watch | undefined {
    const owner = this.#host.catalogue.ownerOf(uri);
    if (owner === undefined) return undefined;
    const { server, inner } = owner;
    let watch = this.#watches.get(server);
    if (watch === undefined) {
      watch = (outer, updated) => {
        const found = this.#host.catalogue.ownerOf(outer)?.inner ?? inner;
        return this.#host.find(server)?.watch(found, () => updated());
      };
      this.#watches.set(server, watch);
    }
    return watch;
  }

  list(kind: OfferKind, call: ServerCall): MaybePromise<OfferList> {
    const isolated = this.#views.servers();
    return isolated.length === 0 ? this.#sharedList(kind) : this.#liveList(kind, isolated, call);
  }

  /** The entries of all servers; the same list until one of them changes. */
  #sharedList(kind: OfferKind): OfferList {
    const entries = this.#host.catalogue.all(kind);
    const cache = this.#hintOf(kind);
    const known = this.#lists.get(kind);
    if (known?.entries === entries && sameHint(known.list.cache, cache)) return known.list;
    const list = { items: kind === "tools" ? withoutTasks(entries as readonly Tool[]) : entries, cache };
    this.#lists.set(kind, { entries, list });
    return list;
  }

  /** The entries as the caller sees them. */
  async #liveList(kind: OfferKind, isolated: readonly RemoteServer[], call: ServerCall): Promise<OfferList> {
    const { catalogue } = this.#host;
    const names = new Set(isolated.map(({ name }) => name));
    const { items, cache } = this.#sharedList(kind);
    const { key } = OFFER_KINDS[kind];
    const shared = items.filter((item) => {
      const outer = String((item as unknown as Record<string, unknown>)[key]);
      return !names.has(catalogue.find(kind, outer)?.server ?? "");
    });
    const views = await Promise.all(isolated.map((server) => this.#viewOf(server, call))).finally(() =>
      leaveUnknown(call, isolated),
    );
    const own = views.flatMap((view): readonly OfferItems[OfferKind][] => view.catalogue.all(kind));
    return { items: [...shared, ...own], cache: { ...(cache ?? this.#hints[kind]), scope: "private" } };
  }

  /** How long a list may be cached: as the narrowest of its parts. */
  #hintOf(kind: OfferKind): CacheHint {
    const { cache } = this.#options;
    const { catalogue } = this.#host;
    const isSet = cache?.ttlMs !== undefined || cache?.[kind]?.ttlMs !== undefined;
    const own = this.#hints[kind];
    const parts: CacheHint[] = isSet ? [own] : [];
    for (const server of catalogue.servers()) {
      const { about, hints } = catalogue.of(server);
      if (about?.capabilities[OFFER_KINDS[kind].capability] !== undefined) parts.push(hints?.[kind] ?? own);
    }
    return narrowest(parts) ?? own;
  }

  find(kind: OfferKind, name: string, call: ServerCall): MaybePromise<FoundOffer | undefined> {
    const isolated = this.#views.servers();
    if (isolated.length > 0) return this.#findLive(kind, name, isolated, call);
    return this.#findIn(this.#shared, kind, name);
  }

  /** The offer as its caller sees the servers. */
  async #findLive(
    kind: OfferKind,
    name: string,
    isolated: readonly RemoteServer[],
    call: ServerCall,
  ): Promise<FoundOffer | undefined> {
    const owner = this.#ownerIn(this.#shared, kind, name)?.server;
    if (owner !== undefined && !isolated.some((server) => server.name === owner)) {
      return this.#findIn(this.#shared, kind, name);
    }
    let target: string | undefined;
    try {
      for (const server of isolated) {
        const view = await this.#viewOf(server, call);
        const found = this.#findIn(view, kind, name);
        if (found === undefined) continue;
        target = server.name;
        return found;
      }
      return undefined;
    } finally {
      const others = isolated.filter((server) => server.name !== target);
      leaveUnknown(call, others);
    }
  }

  #ownerIn({ catalogue }: OfferView, kind: OfferKind, name: string): { server: string; inner: string } | undefined {
    return kind === "resources" ? catalogue.ownerOf(name) : catalogue.find(kind, name);
  }

  #findIn(view: OfferView, kind: OfferKind, name: string): FoundOffer | undefined {
    const owner = this.#ownerIn(view, kind, name);
    const server = owner && this.#host.find(owner.server)?.remote;
    if (owner === undefined || server === undefined) return undefined;
    const { inner } = owner;
    const item = view.catalogue.find(kind, name)?.item;
    return {
      item,
      ...(kind === "tools" && { task: this.#taskOf(owner.server, item as Tool | undefined) }),
      ...(kind === "resources" && !isServed(view.catalogue, owner, name) && { check: () => refuse(name) }),
      run: (call: ServerCall) =>
        kind === "tools"
          ? this.callTool(view, server, inner, call.request.params["arguments"], call)
          : this.#pass(call, server, { ...withoutMeta(call.request.params), [OFFER_KINDS[kind].key]: inner }),
      complete: (call: ServerCall) => {
        const { ref, ...params } = withoutMeta(call.request.params);
        const member = kind === "prompts" ? "name" : "uri";
        return this.#pass(call, server, { ...params, ref: { ...(isObject(ref) ? ref : {}), [member]: inner } });
      },
    };
  }

  /** Some revisions say it for each tool; in the others any tool of a server with the extension may run as a task. */
  #taskOf(server: string, item: Tool | undefined): FoundOffer["task"] {
    const listed = item?.execution?.taskSupport;
    const { extensions } = this.#host.catalogue.of(server).about?.capabilities ?? {};
    const declared = extensions !== undefined && Object.hasOwn(extensions, TASKS.id);
    const support: TaskSupport | undefined =
      listed === "optional" || listed === "required" ? listed : declared ? "optional" : undefined;
    return support && { support, begin: "handler" };
  }

  /** Calls a tool with these arguments, whatever the parameters of the caller's request are. */
  callTool(view: OfferView, server: RemoteServer, tool: string, args: unknown, call: ServerCall): Promise<object> {
    if (args !== undefined && !isObject(args)) {
      throw new McpError("invalid_params", "`params.arguments` of tools/call must be an object");
    }
    const { name, args: inner } = view.innerCall(server.name, tool, args);
    // Nothing else of the parameters is for the server behind.
    return this.#pass(call, server, inner === undefined ? { name } : { name, arguments: inner });
  }

  /** Calls a tool by the name that clients see. */
  callByName(name: string, args: Record<string, unknown> | undefined, call: ServerCall): MaybePromise<object> {
    const owner = this.#ownerIn(this.#shared, "tools", name);
    const server = owner && this.#host.find(owner.server)?.remote;
    if (owner === undefined || server === undefined) throw new McpError("invalid_params", `unknown tool: ${name}`);
    return this.callTool(this.#shared, server, owner.inner, args, call);
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
    const names = this.#host.catalogue.names(server.name);
    const askable = askableOf(call, server.parts.options.extensions);
    const caller = callerOf(call);
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
      const answer = await passOn({ call, params, askable, connection, send }, this.#parkedCalls(call));
      result = passedResult(answer, call, server.name);
    } catch (error) {
      return passedError(error, call, { server: server.name, names, connected: connection !== undefined });
    } finally {
      // An unknown caller does not come back for a connection of its own, unless the call goes on for its next round.
      if (caller === call.root && connection?.running === 0) server.left(caller);
    }
    return shown(call, names, result);
  }

  #parkedCalls({ facts }: ServerCall): ParkedCalls<RunningCall> {
    this.#parked ??= new ParkedCalls(facts.platform, facts.limits.answerMs, () => facts.randomId());
    return this.#parked;
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

  close(): void {
    this.#parked?.close();
  }
}

/** The result as the caller sees it. */
function shown(call: ServerCall, names: OfferNames | undefined, result: object): object {
  const { resultType: _type, ttlMs, cacheScope, ...rest } = result as Record<string, unknown>;
  if (typeof ttlMs === "number") call.cache = { ttlMs, scope: cacheScope === "public" ? "public" : "private" };
  return names === undefined ? rest : outerResult(names, call.request.method, rest);
}

/** Whether a server lists the URI or a template of it; one that lists neither may serve any. */
function isServed(catalogue: HostCatalogue, owner: { server: string; inner: string }, uri: string): boolean {
  const { resources, resourceTemplates } = catalogue.of(owner.server);
  if (resources.length === 0 && resourceTemplates.length === 0) return true;
  if (catalogue.find("resources", uri) !== undefined) return true;
  return resourceTemplates.some((template) => matchesTemplate(template, owner.inner));
}

function refuse(uri: string): never {
  throw resourceNotFound(uri);
}

/** The entries for the list: what they say of tasks is for extensions of this server to say. */
function withoutTasks(tools: readonly Tool[]): readonly Tool[] {
  return tools.map(({ execution: _tasks, ...tool }) => tool);
}

function sameHint(one: CacheHint | undefined, other: CacheHint): boolean {
  return one?.ttlMs === other.ttlMs && one.scope === other.scope;
}

/** Closes the connections of a caller that is not known by the next request. */
function leaveUnknown(call: ServerCall, servers: readonly RemoteServer[]): void {
  if (callerOf(call) === call.root) for (const server of servers) server.left(call.root);
}

function withoutMeta({ _meta: _own, ...rest }: Params): Params {
  return rest;
}
