import { isThenable, type MaybePromise, neverUnhandled, whenReady } from "../../encoding/maybe-promise.js";
import type { Call } from "../../era/era.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { changedKinds, OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { Revision } from "../../protocol/revisions.js";
import { runCall, runInner, type ServerCore } from "../call/endpoint.js";
import type { LayerStep, Route } from "../call/layers.js";
import type { MethodHandler, ServerCall } from "../call/server-call.js";
import type { Hub, Subscriber } from "../changes/hub.js";
import { RESOURCE_FILTER } from "../changes/peer-subscriber.js";
import type { Watch } from "../contract/resource.js";
import type { FoundOffer, OfferItems, OfferList, Source } from "../contract/source.js";
import type { JoinedSources } from "./joined-sources.js";
import { type OfferNames, outerItem, outerResult, prefixedUri, splitUri } from "./offer-names.js";

/** The internals of a server that can have mounts and can be mounted. */
export interface ServerInternals extends ServerCore {
  /** Publishes changes to subscribers. */
  readonly hub: Hub;
  /** All offers of the server. */
  readonly source: JoinedSources;
  /** The mounted servers, by prefix. */
  readonly mounted: Map<string, ServerInternals>;
}

/**
 * The offers of a mounted server under a prefix. Calls go through the mounted server's own layers. Questions, progress,
 * cancellation and `ctx.data` are those of the outer call.
 */
export class PrefixedSource implements Source {
  readonly #prefix: string;
  readonly #server: ServerInternals;
  readonly #lists = new WeakMap<object, OfferList["items"]>();
  readonly #watch: Watch;

  constructor(prefix: string, server: ServerInternals) {
    this.#prefix = prefix;
    this.#server = server;
    this.#watch = (uri, updated) => {
      const value = this.#inner("uri", uri) ?? uri;
      const subscriber = { receive: () => updated() };
      server.hub.subscribe(subscriber, RESOURCE_FILTER, value);
      return () => server.hub.unsubscribe(subscriber, RESOURCE_FILTER, value);
    };
  }

  capabilities(revision: Revision): ServerCapabilities {
    const { tools, prompts, resources, completions } = this.#server.layers.capabilities(revision);
    return {
      ...(tools && { tools }),
      ...(prompts && { prompts }),
      ...(resources && { resources }),
      ...(completions && { completions }),
    };
  }

  /** Subscribes like a client, so that changes of the mounted server's lists reach the clients of the outer server. */
  onChange(listener: (kinds: readonly OfferKind[]) => void): () => void {
    const { layers, hub } = this.#server;
    const end = layers.onChange(() => listener([]));
    const subscriber: Subscriber = { receive: ({ change }) => listener(changedKinds(change.method)) };
    hub.join(subscriber);
    return () => {
      end();
      hub.leave(subscriber);
    };
  }

  get connects(): boolean {
    return this.#server.source.connects;
  }

  watchOf(uri: string): Watch | undefined {
    return this.#inner("uri", uri) === undefined ? undefined : this.#watch;
  }

  async list(kind: OfferKind, call: ServerCall): Promise<OfferList> {
    const route = this.#server.layers.route(OFFER_KINDS[kind].list, call.request.revision);
    if (route === undefined) return { items: [] };
    const { cursor: _cursor, ...params } = call.request.params;
    const inner = this.#innerCall(call, route, params);
    const result = await this.#run(call, inner, route, route.handler);
    let items = this.#lists.get(result);
    if (items === undefined) {
      const listed = (result as Record<string, Record<string, unknown>[]>)[kind] ?? [];
      // Safe: only names and URIs differ.
      items = listed.map((item) => outerItem(this.#names(call), item)) as unknown as OfferItems[OfferKind][];
      this.#lists.set(result, items);
    }
    const { cache } = inner;
    return this.#sharedList(items, cache);
  }

  /** Returns the same object for the same items and hint. */
  #sharedList(items: OfferList["items"], cache: ServerCall["cache"]): OfferList {
    const known = this.#listsByItems.get(items);
    if (known?.cache?.ttlMs === cache.ttlMs && known.cache.scope === cache.scope) return known;
    const list = { items, cache };
    this.#listsByItems.set(items, list);
    return list;
  }

  readonly #listsByItems = new WeakMap<OfferList["items"], OfferList>();

  find(kind: OfferKind, name: string, call: ServerCall): MaybePromise<FoundOffer | undefined> {
    const { key, use = "completion/complete" } = OFFER_KINDS[kind];
    const rest = this.#inner(key === "name" ? "name" : "uri", name);
    const route = rest === undefined ? undefined : this.#server.layers.route(use, call.request.revision);
    if (rest === undefined || route === undefined) return undefined;
    return whenReady(this.#server.source.find(kind, rest, call), (found) =>
      found === undefined ? undefined : this.#outer(kind, found, rest, route),
    );
  }

  #outer(kind: OfferKind, found: FoundOffer, rest: string, route: Route): FoundOffer {
    const { key } = OFFER_KINDS[kind];
    const paramsFor = ({ request: { params } }: ServerCall): Params => ({ ...params, [key]: rest });
    // The mounted server counts the tool's rate itself, so the outer server must not count it.
    const { item, check, complete: _complete, rate: _rate, ...others } = found;
    return {
      ...others,
      item: item && (outerItem(this.#names(), { ...item }) as unknown as OfferItems[OfferKind]),
      ...(check && { check: (call: ServerCall) => check.call(found, this.#innerCall(call, route, paramsFor(call))) }),
      run: (call: ServerCall) => this.#serve(call, route, paramsFor(call), (inner) => found.run(inner), found),
      complete: (call: ServerCall) => this.#complete(call, found, rest),
    };
  }

  async #serve(
    call: ServerCall,
    route: Route,
    params: Params,
    handler: MethodHandler,
    found: FoundOffer,
  ): Promise<object> {
    const inner = this.#innerCall(call, route, params);
    inner.offer = found;
    if (found.cache !== undefined) inner.cache = found.cache;
    const result = await this.#run(call, inner, route, handler);
    call.cache = inner.cache;
    return outerResult(this.#names(call), call.request.method, result);
  }

  #complete(call: ServerCall, found: FoundOffer, rest: string): MaybePromise<object> {
    const route = this.#server.layers.route("completion/complete", call.request.revision);
    const { params } = call.request;
    if (route === undefined || found.complete === undefined || !isObject(params["ref"])) {
      return { completion: { values: [], total: 0, hasMore: false } };
    }
    const member = params["ref"]["type"] === "ref/prompt" ? "name" : "uri";
    const ref = { ...params["ref"], [member]: rest };
    return this.#serve(call, route, { ...params, ref }, (inner) => found.complete?.(inner) ?? {}, {
      run: () => ({}),
    });
  }

  /** Runs a call through the layers of the mounted server. Skips extensions that already run around the outer call. */
  async #run(outer: ServerCall, inner: ServerCall, { steps }: Route, handler: MethodHandler): Promise<object> {
    const own = withoutExtensions(steps, outer);
    try {
      return await runInner(() => runCall(own, inner, handler), inner);
    } finally {
      outer.reply = inner.reply ?? outer.reply;
      outer.failure = inner.failure;
    }
  }

  #innerCall(call: ServerCall, { row }: Route, params: Params): ServerCall {
    return call.inner(this.#server, row, negotiated({ ...call.request, params }, call));
  }

  #names(call?: ServerCall): OfferNames {
    const prefix = this.#prefix;
    return {
      name: (inner) => `${prefix}_${inner}`,
      uri: (inner) => prefixedUri(prefix, inner),
      serving: () => (uri) => call === undefined || this.#serves(uri, call),
    };
  }

  #serves(uri: string, call: ServerCall): boolean {
    const found = this.#server.source.find("resources", uri, call);
    if (found === undefined) return false;
    if (isThenable(found)) neverUnhandled(Promise.resolve(found));
    // If the served URIs are not known, web addresses stay unchanged, so that the client can open them.
    return !((isThenable(found) || found.assumed === true) && /^https?:/i.test(uri));
  }

  /** Removes the prefix from a name or URI. Returns undefined if the name or URI does not have this prefix. */
  #inner(member: "name" | "uri", outer: string): string | undefined {
    if (member === "name") {
      const start = `${this.#prefix}_`;
      return outer.startsWith(start) ? outer.slice(start.length) : undefined;
    }
    const split = splitUri(outer);
    return split?.prefix === this.#prefix.toLowerCase() ? split.inner : undefined;
  }
}

/** Returns the layers without extensions that already run around the call. */
function withoutExtensions(steps: readonly LayerStep[], call: ServerCall): readonly LayerStep[] {
  if (!steps.some(({ layer }) => layer.stage === "extension")) return steps;
  const ids = new Set<string>();
  for (let each: ServerCall | undefined = call; each !== undefined; each = each.outer) {
    for (const { id } of each.config.options.extensions ?? []) ids.add(id);
  }
  return steps.filter(({ layer: { stage, name } }) => stage !== "extension" || !ids.has(name));
}

/**
 * Returns the request without extensions that the outermost server, which the client is connected to, does not have.
 */
function negotiated(request: Call, { root }: ServerCall): Call {
  const { clientCapabilities, params } = request;
  const { extensions } = clientCapabilities;
  if (!isObject(extensions) && !("task" in params)) return request;
  const ids = (root.config.options.extensions ?? []).map(({ id }) => id);
  const shared = Object.entries(extensions ?? {}).filter(([id]) => ids.includes(id));
  const { task, ...rest } = params;
  return {
    ...request,
    params: ids.includes(TASKS.id) && task !== undefined ? params : rest,
    clientCapabilities: { ...clientCapabilities, extensions: Object.fromEntries(shared) },
  };
}
