import type { Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { type DispatchingServer, MAKERS, perform, publicError } from "../../server/call/dispatch.js";
import { ServerCall } from "../../server/call/server-call.js";
import type { Hub } from "../../server/changes/hub.js";
import type { Offers } from "../../server/lists/offers.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import type { ExtendedServer, ServedExtension } from "./extended-server.js";

/** The parts of a server that extensions are attached to. */
export interface ServerParts extends DispatchingServer {
  readonly hub: Hub;
  readonly offers: Offers;
}

/** Connects what an extension serves to one server. */
export function attachToServer(parts: ServerParts, serve: (server: ExtendedServer) => ServedExtension): void {
  const { registry, pipeline } = parts;
  const served = serve(extendedServer(parts));
  const handlers = Object.entries(served.handlers ?? {}).map(([method, handler]) => [
    method,
    (call: ServerCall) => handler(call.request.params, call),
  ]);
  for (const [method, around] of Object.entries(served.around ?? {})) {
    if (registry.around.has(method)) {
      throw new McpError("invalid_definition", `two extensions of this server run around ${method}`, {
        fix: "Pass only one of them to the server.",
      });
    }
    registry.around.set(method, around);
  }
  for (const [option, extend] of Object.entries(served.toolOptions ?? {})) registry.toolOptions.set(option, extend);
  for (const [member, admit] of Object.entries(served.listenValues ?? {})) narrowListen(parts, member, admit);
  if (served.close !== undefined) pipeline.closers.push(() => served.close?.());
  registry.addFeature({
    handlers: Object.fromEntries(handlers),
    capabilities: (revision) => served.capabilities?.(revision) ?? {},
  });
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
    if (values !== true && values.length > subscriptions) {
      throw new McpError("limit_exceeded", `\`params.notifications.${member}\` has more than ${subscriptions} values`, {
        data: { limit: "subscriptions", value: subscriptions },
        fix: "Listen to fewer, or raise `limits.subscriptions` of the server.",
      });
    }
    const heard = values === true ? [] : await admit(values, call);
    if (heard.length > 0) filter.set(member, heard);
    else filter.delete(member);
  };
}

function extendedServer(parts: ServerParts): ExtendedServer {
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
    // Safe: only a server makes such calls.
    usualAsker: (call) => MAKERS.asker(call as ServerCall),
    withdraw: (kind, name) => offers.remove(kind, name),
    changed: () => registry.changed(),
    publish: (change) => hub.publish(change),
    async hear(filter, value, act) {
      const subscriber = { hear: ({ change }: { change: Parameters<typeof act>[0] }) => act(change) };
      await hub.ready();
      hub.subscribe(subscriber, filter, value);
      return () => hub.unsubscribe(subscriber, filter, value);
    },
    async run(request, exchange, prepare) {
      const route = registry.route(request.method, request.revision);
      if (route === undefined) {
        throw new McpError("method_not_found", `the method "${request.method}" is not offered by this server`);
      }
      const call = new ServerCall(facts, request, route.row, exchange, MAKERS);
      call.straight = false;
      prepare?.(call);
      let ok = false;
      try {
        const result = await perform(parts, call, route.handler);
        ok = true;
        return call.interim ?? result;
      } catch (error) {
        throw publicError(call, error);
      } finally {
        for (const act of call.beforeAnswer ?? []) act(ok);
      }
    },
  };
}

/** A parameter that must be a string. */
export function stringParam(params: Params, name: string, method: string): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw new McpError("invalid_params", `\`params.${name}\` of ${method} must be a string`);
}
