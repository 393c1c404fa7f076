import { checkedNotificationMiddleware } from "../../era/notification-middleware.js";
import type { Params } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Extension } from "../../protocol/extension.js";
import { endOf } from "../../server/call/call-failure.js";
import { type DispatchingServer, MAKERS, perform, publicError } from "../../server/call/dispatch.js";
import type { AroundMethod, Registry } from "../../server/call/registry.js";
import { ServerCall } from "../../server/call/server-call.js";
import type { Hub } from "../../server/changes/hub.js";
import type { Offers } from "../../server/sources/offers.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import { checkListed, returned } from "./check-extension.js";
import type { ExtendedServer, ServedExtension } from "./extended-server.js";

/** The parts of a server that extensions are attached to. */
export interface ServerParts extends DispatchingServer {
  readonly hub: Hub;
  readonly offers: Offers;
}

const MEMBERS = "handlers around aroundNotifications capabilities toolOptions toolChanged listenValues close";

/** What runs around one method, in the order of the extensions. */
type Arounds = { readonly owner: string; readonly around: AroundMethod }[];

/** What extensions have attached to each server so far. */
const ATTACHED = new WeakMap<Registry, { ids: string[]; arounds: Map<string, Arounds> }>();

/** Connects what an extension serves to one server. */
export function attachToServer(
  extension: Extension,
  parts: ServerParts,
  serve: (server: ExtendedServer) => ServedExtension,
): void {
  const { id } = extension;
  const { registry, pipeline } = parts;
  const attached = ATTACHED.get(registry) ?? { ids: [], arounds: new Map<string, Arounds>() };
  ATTACHED.set(registry, attached);
  if (attached.ids.includes(id)) {
    throw new McpError("invalid_definition", `the extension ${id} was given twice`, {
      fix: "Pass it once in `extensions` of the server.",
    });
  }
  attached.ids.push(id);
  const served = returned(`\`server\` of the extension ${id}`, () => serve(extendedServer(parts, id)));
  checkServed(extension, parts, served);
  for (const [method, around] of Object.entries(served.around ?? {})) {
    attached.arounds.set(method, [...(attached.arounds.get(method) ?? []), { owner: id, around }]);
    registry.around.set(method, (call, next) => through(aroundsOf(registry, method), call, next));
  }
  for (const [option, extend] of Object.entries(served.toolOptions ?? {})) {
    const what = `\`toolOptions.${option}\` of the extension ${id}`;
    registry.toolOptions.set(option, (tool, wire) => returned(what, () => extend(tool, wire)));
  }
  if (served.toolChanged !== undefined) {
    const others = registry.toolChanged;
    registry.toolChanged = (name, tool) => {
      others?.(name, tool);
      callHook(parts.facts.platform, `toolChanged of ${id}`, () => served.toolChanged?.(name, tool));
    };
  }
  for (const [member, admit] of Object.entries(served.listenValues ?? {})) narrowListen(parts, member, admit);
  if (served.aroundNotifications !== undefined)
    pipeline.notifications.push(...checkedNotificationMiddleware([served.aroundNotifications]));
  if (served.close !== undefined) pipeline.closers.push(() => served.close?.());
  const handlers = Object.entries(served.handlers ?? {}).map(([method, handler]) => [
    method,
    (call: ServerCall) => handler(call.request.params, call),
  ]);
  registry.addFeature({
    handlers: Object.fromEntries(handlers),
    capabilities: (revision) =>
      returned(`\`capabilities\` of the extension ${id}`, () => served.capabilities?.(revision) ?? {}),
  });
}

/** Throws `invalid_definition` for what would never be called, or would take the place of what another extension adds. */
function checkServed(
  { id, methods = [], listenFilters = [] }: Extension,
  { facts, registry }: ServerParts,
  served: ServedExtension,
): void {
  const what = `\`server\` of the extension ${id}`;
  checkOptions<ServedExtension, typeof MEMBERS>(what, served, MEMBERS);
  const own = methods.map(({ method }) => method);
  checkListed(
    `\`handlers\` of ${what}`,
    served.handlers,
    own,
    "List it in `methods`; methods of others have `around`.",
  );
  checkListed(`\`listenValues\` of ${what}`, served.listenValues, listenFilters, "List it in `listenFilters`.");
  const known = [...facts.methods.rows()].map(({ method }) => method);
  checkListed(`\`around\` of ${what}`, served.around, known, "Use a method of the protocol or of an extension.");
  for (const option of Object.keys(served.toolOptions ?? {})) {
    if (!registry.toolOptions.has(option)) continue;
    throw new McpError("invalid_definition", `two extensions of this server have the option \`${option}\` of tools`, {
      fix: "Pass only one of them to the server.",
    });
  }
}

/** What runs around a method: all of it, or what is inside of one extension. */
function aroundsOf(registry: Registry, method: string, outer?: string): readonly AroundMethod[] {
  const { ids = [], arounds } = ATTACHED.get(registry) ?? {};
  const depth = outer === undefined ? -1 : ids.indexOf(outer);
  const all = arounds?.get(method) ?? [];
  return all.filter(({ owner }) => ids.indexOf(owner) > depth).map(({ around }) => around);
}

function through(
  [first, ...rest]: readonly AroundMethod[],
  call: ServerCall,
  next: () => object | Promise<object>,
): object | Promise<object> {
  return first === undefined ? next() : first(call, () => through(rest, call, next));
}

type AdmitValues = NonNullable<ServedExtension["listenValues"]>[string];

/** Lets an extension decide which values of one member of a listen filter its sender may hear of. */
function narrowListen({ registry, facts }: ServerParts, member: string, admit: AdmitValues): void {
  const others = registry.narrowListen;
  const { subscriptions } = facts.limits;
  registry.narrowListen = async (filter, call) => {
    await others?.(filter, call);
    const values = filter.get(member);
    if (values === undefined) return;
    if (values === true) {
      throw new McpError("invalid_params", `\`params.notifications.${member}\` must be an array of strings`);
    }
    if (values.length > subscriptions) {
      throw new McpError("limit_exceeded", `\`params.notifications.${member}\` has more than ${subscriptions} values`, {
        data: { limit: "subscriptions", value: subscriptions },
        fix: "Listen to fewer, or raise `limits.subscriptions` of the server.",
      });
    }
    const heard = await admit(values, call);
    if (heard.length > 0) filter.set(member, heard);
    else filter.delete(member);
  };
}

function extendedServer(parts: ServerParts, id: string): ExtendedServer {
  const { facts, registry, hub, offers } = parts;
  let memory: Storage | undefined;
  return {
    info: facts.info,
    platform: facts.platform,
    secrets: facts.secrets,
    answerMs: facts.limits.answerMs,
    pageSize: facts.options.pageSize,
    get storage() {
      // Made on first use, because a server without tasks needs none.
      memory ??= facts.options.storage ?? createMemoryStorage({ clock: facts.platform });
      return memory;
    },
    sharesStorage: facts.options.storage !== undefined,
    // Whoever holds a call got it from this server.
    hasTool: (name, call) => offers.tools.knows(name, call as ServerCall),
    offer: (offer) => offers.add(offer, false),
    hasResource(uri, call) {
      try {
        // Safe: only a server makes such calls.
        return offers.resources.knows(uri, call as ServerCall);
      } catch {
        // The caller lacks a scope for it.
        return true;
      }
    },
    ownerOf(uri) {
      if (registry.provided.has("resources")) return "handlerObject";
      const owner = offers.resources.ownerOf(uri);
      return owner && ("match" in owner ? "resourceTemplate" : "resource");
    },
    // Safe: only a server makes such calls.
    usualAsker: (call) => MAKERS.asker(call as ServerCall),
    withdraw: (kind, name) => offers.remove(kind, name),
    changed: () => registry.changed(),
    publish: (change) => hub.publish(change),
    whenAnswered(call, act) {
      // Safe: only a server makes such calls.
      (call as ServerCall).whenAnswered((ok) => callHook(facts.platform, `whenAnswered of ${id}`, () => act(ok)));
    },
    async hear(filter, value, act) {
      const hear = ({ change }: { change: Parameters<typeof act>[0] }) =>
        callHook(facts.platform, `hear of ${id}`, () => act(change));
      // Whoever hears of a change looks again; what was lost is treated as one.
      const missed = () => hear({ change: { filter, value, method: "" } });
      const subscriber = { hear, missed };
      await hub.ready();
      hub.subscribe(subscriber, filter, value);
      return () => hub.unsubscribe(subscriber, filter, value);
    },
    run: running(parts, id),
  };
}

/** `ExtendedServer.run` for one extension, whose own `around` is outside of what it runs. */
function running(parts: ServerParts, id: string): ExtendedServer["run"] {
  const { facts, registry, pipeline } = parts;
  return async (request, exchange, prepare) => {
    const route = registry.route(request.method, request.revision);
    if (route === undefined) {
      throw new McpError("method_not_found", `the method "${request.method}" is not offered by this server`);
    }
    const call = new ServerCall(facts, request, route.row, exchange, MAKERS);
    call.straight = false;
    let end = () => {};
    // It is no response, and has no length.
    const ended = new Promise<{ text: string }>((resolve) => {
      end = () => resolve({ text: "" });
    });
    call.detach = () => {
      call.detach = undefined;
      if (pipeline.observers.length > 0) void pipeline.observed(call, () => ended);
    };
    let ok = false;
    try {
      await pipeline.gate?.();
      await prepare?.(call);
      const inside = aroundsOf(registry, request.method, id);
      const result = await through(inside, call, () => perform(parts, call, route.handler));
      ok = true;
      call.end = endOf(call, { result });
      return call.interim ?? result;
    } catch (error) {
      call.end = endOf(call, { error });
      throw publicError(call, error);
    } finally {
      end();
      for (const act of call.beforeAnswer ?? []) act(ok);
    }
  };
}

/** A parameter that must be a string. */
export function stringParam(params: Params, name: string, method: string): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw new McpError("invalid_params", `\`params.${name}\` of ${method} must be a string`);
}
