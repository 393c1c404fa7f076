import { isObject, type Params } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { Revision } from "../../protocol/revisions.js";
import type { DispatchingServer } from "../call/dispatch.js";
import type { Feature, MethodHandler } from "../call/feature.js";
import type { ServerCall } from "../call/server-call.js";
import { CHANGING_LISTS, type ListName, listNotice } from "../changes/change.js";
import type { Hub, Subscriber } from "../changes/hub.js";
import { RESOURCE_FILTER } from "../changes/peer-subscriber.js";
import type { Watch } from "../resources/resource.js";
import { isOverflowUri } from "../tools/overflow-store.js";
import { allPages, type Forwarded, forward, narrowCache, ownPage } from "./forward.js";
import { innerName, innerUri, mountedNames, outerItem, outerResult } from "./mounted-names.js";
import type { Offers } from "./offers.js";
import { PagedList, pageOf } from "./pages.js";

/** A server that can have mounts and can be mounted. */
export interface MountableServer extends DispatchingServer {
  readonly hub: Hub;
  readonly offers: Offers;
  /** The servers mounted in it; set by the server with the first of them. */
  mounts?: Mounts;
}

/** A mounted server. */
interface Mount {
  readonly prefix: string;
  readonly server: MountableServer;
  /** Watches its resources while the outer server has subscribers. */
  readonly watch: Watch;
}

/** The lists that mounted servers add to, by method: the member of the result, and the member that identifies an item. */
const LISTS = {
  "tools/list": { member: "tools", key: "name" },
  "prompts/list": { member: "prompts", key: "name" },
  "resources/list": { member: "resources", key: "uri" },
  "resources/templates/list": { member: "resourceTemplates", key: "uriTemplate" },
} as const;

const PREFIX = /^[A-Za-z][A-Za-z0-9-]{0,31}$/;
/** Joined lists to cache per method where callers see different ones; bounds memory. */
const MOST_LISTS = 16;

interface Joined {
  readonly pages: readonly object[];
  readonly list: PagedList<Record<string, unknown>, object>;
}

/** The servers mounted in one server. Clients see their tools, prompts and resources under their prefixes. */
export class Mounts implements Feature {
  readonly #own: MountableServer;
  readonly #mounts: Mount[] = [];
  readonly #joined = new Map<string, Joined[]>();
  readonly needsSession = true;
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  readonly checks: NonNullable<Feature["checks"]>;

  constructor(own: MountableServer) {
    this.#own = own;
    this.handlers = {
      ...Object.fromEntries(
        Object.keys(LISTS).map((method) => [method, this.#listHandler(method as keyof typeof LISTS)]),
      ),
      ...this.#targeted("tools/call", "name"),
      ...this.#targeted("prompts/get", "name"),
      ...this.#targeted("resources/read", "uri"),
      ...this.#completion(),
    };
    const ownCheck = own.registry.checks.get("tools/call");
    this.checks = { "tools/call": (call) => this.#check(call, ownCheck) };
    own.offers.resources.elsewhere = {
      knows: (uri, call) => this.#knows(uri, call),
      watchOf: (uri) => this.#byUri(uri)?.mount.watch,
    };
    own.registry.addFeature(this);
  }

  capabilities(revision: Revision): ServerCapabilities {
    const all: ServerCapabilities = {};
    for (const { server } of this.#mounts) {
      const { tools, prompts, resources, completions } = server.registry.capabilities(revision);
      if (tools !== undefined) all.tools = { ...all.tools, ...tools };
      if (prompts !== undefined) all.prompts = { ...all.prompts, ...prompts };
      if (resources !== undefined) all.resources = { ...all.resources, ...resources };
      if (completions !== undefined) all.completions = completions;
    }
    return all;
  }

  /** True when the other server is mounted here, at any depth. */
  includes(other: MountableServer): boolean {
    return this.#mounts.some(({ server }) => server === other || server.mounts?.includes(other) === true);
  }

  /** Mounts a server. Returns a function that takes it away, to be called once; its running calls go on. */
  add(prefix: string, server: MountableServer): () => void {
    if (!PREFIX.test(prefix)) {
      throw new McpError("invalid_definition", `"${prefix}" is not a valid prefix for a mounted server`, {
        fix: "Use a letter, then letters, digits and hyphens, at most 32 characters.",
      });
    }
    if (this.#mounts.some((mount) => mount.prefix.toLowerCase() === prefix.toLowerCase())) {
      throw new McpError("invalid_definition", `the prefix "${prefix}" is already taken by a mounted server`);
    }
    if (server === this.#own || server.mounts?.includes(this.#own) === true) {
      throw new McpError("invalid_definition", `the server at "${prefix}" would contain itself`);
    }
    const mount = { prefix, server, watch: watchOf(prefix, server.hub) };
    const { onChanged } = server.registry;
    const changed = () => this.#own.registry.changed();
    // Subscribes as a client would, so that changes of the mounted server's lists reach clients of this one.
    const subscriber: Subscriber = {
      hear: ({ change }) => {
        const list = CHANGING_LISTS.find((name) => listNotice(name).method === change.method);
        if (list !== undefined) this.#changed(list);
      },
    };
    this.#mounts.push(mount);
    onChanged.push(changed);
    server.hub.join(subscriber);
    CHANGING_LISTS.map((list) => this.#changed(list));
    return () => {
      this.#mounts.splice(this.#mounts.indexOf(mount), 1);
      onChanged.splice(onChanged.indexOf(changed), 1);
      server.hub.leave(subscriber);
      CHANGING_LISTS.map((list) => this.#changed(list));
    };
  }

  #changed(list: ListName): void {
    this.#own.registry.changed();
    this.#own.hub.listChanged(list);
  }

  #listHandler(method: keyof typeof LISTS): MethodHandler {
    const own = this.#own.registry.handlers.get(method);
    return async (call) => {
      const pages =
        own === undefined ? [] : await allPages(call.request.params, (params) => ownPage(call, own, params));
      const parts: { mount: Mount | undefined; pages: Forwarded[] }[] = [{ mount: undefined, pages }];
      for (const mount of this.#mounts) {
        if (mount.server.registry.route(method, call.request.revision) === undefined) continue;
        parts.push({
          mount,
          pages: await allPages(call.request.params, (params) => forward(call, mount.server, params)),
        });
      }
      narrowCache(
        call,
        parts.flatMap((part) => part.pages),
      );
      return pageOf(this.#own.facts, this.#join(method, parts), call.request.params);
    };
  }

  /** Joins the parts to one list. As long as every part returns the same page objects, the list and its text are reused. */
  #join(
    method: keyof typeof LISTS,
    parts: readonly { mount: Mount | undefined; pages: readonly Forwarded[] }[],
  ): Joined["list"] {
    const pages = parts.flatMap((part) => part.pages.map(({ result }) => result));
    const known = this.#joined.get(method) ?? [];
    const same = known.find((joined) => sameItems(joined.pages, pages));
    if (same !== undefined) return same.list;
    const { member, key } = LISTS[method];
    const items = new Map<unknown, Record<string, unknown>>();
    for (const { mount, pages: own } of parts) {
      for (const item of own.flatMap(
        ({ result }) => (result as Record<string, Record<string, unknown>[]>)[member] ?? [],
      )) {
        const outer =
          mount === undefined
            ? item
            : outerItem(
                mountedNames(mount.prefix, () => true),
                item,
              );
        if (!items.has(outer[key])) items.set(outer[key], outer);
      }
    }
    const shape = {
      name: `all ${member}`,
      keyOf: (item: Record<string, unknown>) => String(item[key]),
      result: (page: Record<string, unknown>[], next: { nextCursor?: string }) => ({ [member]: page, ...next }),
    };
    const list = new PagedList<Record<string, unknown>, object>(shape, [...items.values()]);
    this.#joined.set(method, [{ pages, list }, ...known].slice(0, MOST_LISTS));
    return list;
  }

  /** A method about one offer: its name or URI decides which server serves it. This server's own offers come first. */
  #targeted(method: string, member: "name" | "uri"): Record<string, MethodHandler> {
    const own = this.#own.registry.handlers.get(method);
    return {
      [method]: (call) => {
        const named = call.request.params[member];
        const target = this.#target(method, member, call);
        if (target !== undefined)
          return this.#forward(call, target.mount, { ...call.request.params, [member]: target.rest });
        if (own === undefined) throw new McpError("invalid_params", `unknown ${member}: ${String(named)}`);
        return own(call);
      },
    };
  }

  #target(method: string, member: "name" | "uri", call: ServerCall): { mount: Mount; rest: string } | undefined {
    const named = call.request.params[member];
    return typeof named !== "string" || this.#isOwn(method, named, call) ? undefined : this.#find(member, named);
  }

  #check(call: ServerCall, own: ((call: ServerCall) => void) | undefined): void {
    const { method, params, revision } = call.request;
    const target = this.#target(method, "name", call);
    if (target === undefined) return own?.(call);
    const { facts, registry } = target.mount.server;
    const route = registry.route(method, revision);
    route?.check?.(call.inner(facts, route.row, { ...params, name: target.rest }));
  }

  #completion(): Record<string, MethodHandler> {
    const own = this.#own.registry.handlers.get("completion/complete");
    const complete: MethodHandler = (call) => {
      const { ref } = call.request.params;
      const member = isObject(ref) && ref["type"] === "ref/prompt" ? "name" : "uri";
      const named = isObject(ref) ? ref[member] : undefined;
      const method = member === "name" ? "prompts/get" : "resources/read";
      const target =
        typeof named === "string" && !this.#isOwn(method, named, call) ? this.#find(member, named) : undefined;
      if (target !== undefined && isObject(ref)) {
        return this.#forward(call, target.mount, { ...call.request.params, ref: { ...ref, [member]: target.rest } });
      }
      if (own === undefined) throw new McpError("invalid_params", "there is nothing to complete");
      return own(call);
    };
    return { "completion/complete": complete };
  }

  async #forward(call: ServerCall, mount: Mount, params: Params): Promise<object> {
    const forwarded = await forward(call, mount.server, params);
    call.cache = forwarded.call.cache;
    const serves = (uri: string) => servesUri(mount, uri, call);
    return outerResult(mountedNames(mount.prefix, serves), call.request.method, forwarded.result);
  }

  #isOwn(method: string, named: string, call: ServerCall): boolean {
    const { tools, prompts, resources } = this.#own.offers;
    if (method === "tools/call") return tools.knows(named, call);
    return (method === "prompts/get" ? prompts : resources).completable(named, call) !== undefined;
  }

  /** The mounted server that a name or URI belongs to. If several prefixes match a name, the longest wins. */
  #find(member: "name" | "uri", named: string): { mount: Mount; rest: string } | undefined {
    if (member === "uri") return this.#byUri(named);
    let best: { mount: Mount; rest: string } | undefined;
    for (const mount of this.#mounts) {
      const rest = innerName(mount.prefix, named);
      if (rest !== undefined && (best === undefined || mount.prefix.length > best.mount.prefix.length))
        best = { mount, rest };
    }
    return best;
  }

  #byUri(uri: string): { mount: Mount; rest: string } | undefined {
    for (const mount of this.#mounts) {
      const rest = innerUri(mount.prefix, uri);
      if (rest !== undefined) return { mount, rest };
    }
    return undefined;
  }

  #knows(uri: string, call: ServerCall): boolean {
    const target = this.#byUri(uri);
    return target?.mount.server.offers.resources.knows(target.rest, call) === true;
  }
}

function servesUri({ server: { registry, offers } }: Mount, uri: string, call: ServerCall): boolean {
  if (isOverflowUri(uri)) return true;
  // A handler object does not tell which URIs it serves; web addresses are left for the client to open.
  if (registry.provided.has("resources") && /^https?:/i.test(uri)) return false;
  return offers.resources.knows(uri, call);
}

function watchOf(prefix: string, hub: Hub): Watch {
  return (uri, updated) => {
    const rest = innerUri(prefix, uri) ?? uri;
    const subscriber = { hear: () => updated() };
    hub.subscribe(subscriber, RESOURCE_FILTER, rest);
    return () => hub.unsubscribe(subscriber, RESOURCE_FILTER, rest);
  };
}

function sameItems(some: readonly object[], others: readonly object[]): boolean {
  return some.length === others.length && some.every((item, index) => item === others[index]);
}
