import type { Call } from "../../era/era.js";
import { checkedNotificationMiddleware } from "../../era/notification-middleware.js";
import type { Params } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Extension } from "../../protocol/extension.js";
import type { Tool } from "../../protocol/features/tools.js";
import { publicError, runCall, runInner } from "../../server/call/endpoint.js";
import { inLayer } from "../../server/call/in-layer.js";
import type { Around } from "../../server/call/layers.js";
import { type CallOwner, type MethodHandler, ServerCall } from "../../server/call/server-call.js";
import type { ListenFilter } from "../../server/changes/listen.js";
import type { ToolOffer } from "../../server/contract/tool.js";
import type { ServerInternals } from "../../server/sources/prefixed-source.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import type { Exchange } from "../../transport/transport.js";
import { checkDeclared, checkReturned } from "./check-extension.js";
import type { ExtendedServer, PreparedCall, ServedExtension } from "./extended-server.js";

const MEMBERS = "handlers around aroundNotifications capabilities toolOptions toolChanged listenValues close";

/** Adds an extension to one server, as a layer. */
export function attachToServer(
  extension: Extension,
  internals: ServerInternals,
  serve: (server: ExtendedServer) => ServedExtension,
): void {
  const { id } = extension;
  const { layers, config } = internals;
  if (layers.all().some(({ stage, name }) => stage === "extension" && name === id)) {
    throw new McpError("invalid_definition", `the extension ${id} was given twice`, {
      fix: "Pass it once in `extensions` of the server.",
    });
  }
  const served = checkReturned(`\`server\` of the extension ${id}`, () => serve(extendedServer(internals, id)));
  checkServed(extension, internals, served);
  const { around = {}, handlers = {}, toolOptions = {}, listenValues = {} } = served;
  layers.add({
    name: id,
    stage: "extension",
    around: mapValues(
      around,
      (run): Around =>
        (call, next) =>
          inLayer(call, "extensions", () => run(call, () => next(call))),
    ),
    handlers: mapValues(
      handlers,
      (handler): MethodHandler =>
        (call) =>
          handler(call.request.params, call),
    ),
    toolOptions: mapValues(toolOptions, (extend, option) => (tool: ToolOffer, wire: Tool) => {
      return checkReturned(`\`toolOptions.${option}\` of the extension ${id}`, () => extend(tool, wire));
    }),
    capabilities: (revision) =>
      checkReturned(`\`capabilities\` of the extension ${id}`, () => served.capabilities?.(revision) ?? {}),
    toolChanged: (name, tool) =>
      callHook(config.platform, `toolChanged of ${id}`, () => served.toolChanged?.(name, tool)),
    ...(Object.keys(listenValues).length > 0 && {
      async narrowListen(filter: ListenFilter, call: ServerCall) {
        for (const [member, admit] of Object.entries(listenValues))
          await narrow(internals, filter, member, admit, call);
      },
    }),
    ...(served.aroundNotifications && {
      notifications: checkedNotificationMiddleware([served.aroundNotifications]),
    }),
    close: () => served.close?.(),
  });
}

/** Applies `change` to every member of an object. */
function mapValues<T, U>(
  members: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value, name)]));
}

/**
 * Throws `invalid_definition` for members that would never be called, and for a tool option that another extension
 * already defines.
 */
function checkServed(
  { id, methods = [], listenFilters = [] }: Extension,
  { config, layers }: ServerInternals,
  served: ServedExtension,
): void {
  const what = `\`server\` of the extension ${id}`;
  checkOptions<ServedExtension, typeof MEMBERS>(what, served, MEMBERS);
  const own = methods.map(({ method }) => method);
  checkDeclared(
    `\`handlers\` of ${what}`,
    served.handlers,
    own,
    "List it in `methods`, or use `around` for a method of the protocol or another extension.",
  );
  checkDeclared(`\`listenValues\` of ${what}`, served.listenValues, listenFilters, "List it in `listenFilters`.");
  const known = [...config.methods.rows()].map(({ method }) => method);
  checkDeclared(`\`around\` of ${what}`, served.around, known, "Use a method of the protocol or of an extension.");
  for (const option of Object.keys(served.toolOptions ?? {})) {
    if (!layers.all().some(({ toolOptions = {} }) => Object.hasOwn(toolOptions, option))) continue;
    throw new McpError("invalid_definition", `two extensions of this server define the tool option \`${option}\``, {
      fix: "Pass only one of them to the server.",
    });
  }
}

type AdmitValues = NonNullable<ServedExtension["listenValues"]>[string];

/** Lets an extension narrow one member of a listen filter to the values that the caller may subscribe to. */
async function narrow(
  { config }: ServerInternals,
  filter: ListenFilter,
  member: string,
  admit: AdmitValues,
  call: ServerCall,
): Promise<void> {
  const { subscriptions } = config.limits;
  const values = filter.get(member);
  if (values === undefined) return;
  if (values === true) {
    throw new McpError("invalid_params", `\`params.notifications.${member}\` must be an array of strings`);
  }
  if (values.length > subscriptions) {
    throw new McpError("limit_exceeded", `\`params.notifications.${member}\` has more than ${subscriptions} values`, {
      data: { limit: "subscriptions", value: subscriptions },
      fix: "Listen to fewer values, or raise `limits.subscriptions` of the server.",
    });
  }
  const admitted = await admit(values, call);
  if (admitted.length > 0) filter.set(member, admitted);
  else filter.delete(member);
}

function extendedServer(internals: ServerInternals, id: string): ExtendedServer {
  const { config, layers, hub, source } = internals;
  const { local } = source;
  // This extension and the extensions outside it. `run` skips them.
  const extensions = layers.all().filter(({ stage }) => stage === "extension");
  const outside = new Set([...extensions.map(({ name }) => name), id]);
  let memory: Storage | undefined;
  return {
    info: config.info,
    platform: config.platform,
    secrets: config.secrets,
    answerMs: config.limits.answerMs,
    pageSize: config.options.pageSize,
    get storage() {
      // Created on first use, because many extensions need no storage.
      memory ??= config.options.storage ?? createMemoryStorage({ clock: config.platform });
      return memory;
    },
    sharesStorage: config.options.storage !== undefined,
    find(kind, name, call) {
      // Safe: only a server creates these calls.
      const { offer } = call as ServerCall;
      const known = kind === "tools" && call.request.params["name"] === name ? offer : undefined;
      return known ?? source.find(kind, name, call);
    },
    offer: (offer) => local.add(offer, false),
    ownerOf(uri) {
      const owner = local.ownerOf(uri);
      return owner && ("match" in owner ? "resourceTemplate" : "resource");
    },
    // Safe: only a server creates these calls.
    usualAsker: (call) => internals.usualAsker(call as ServerCall),
    withdraw: (kind, name) => local.remove(kind, name),
    changed: () => layers.changed(),
    publish: (change) => hub.publish(change),
    whenAnswered(call, act) {
      // Safe: only a server creates these calls.
      (call as ServerCall).whenAnswered((ok) => callHook(config.platform, `whenAnswered of ${id}`, () => act(ok)));
    },
    async subscribe(filter, value, act) {
      const receive = ({ change }: { change: Parameters<typeof act>[0] }) =>
        callHook(config.platform, `subscribe of ${id}`, () => act(change));
      // Reports a gap as a change, so that the subscriber reads the current state.
      const onGap = () => receive({ change: { filter, value, method: "" } });
      const subscriber = { receive, onGap };
      await hub.ready();
      hub.subscribe(subscriber, filter, value);
      return () => hub.unsubscribe(subscriber, filter, value);
    },
    run: (request, exchange, prepare) => runInside(internals, outside, request, exchange, prepare),
  };
}

/** Runs a request through all layers except observers, limits, the calling extension and the extensions outside it. */
async function runInside(
  internals: ServerInternals,
  outside: ReadonlySet<string>,
  request: Call,
  exchange: Exchange,
  prepare: ((call: PreparedCall) => void) | undefined,
): Promise<object> {
  const route = internals.layers.route(request.method, request.revision);
  if (route === undefined) {
    throw new McpError("method_not_found", `the method "${request.method}" is not offered by this server`);
  }
  const owner: CallOwner = {
    config: internals.config,
    contextOf: internals.contextOf,
    usualAsker: internals.usualAsker,
    straight: false,
  };
  const call = new ServerCall(owner, request, route.row, exchange);
  const prepared = Object.assign(call, { detach: () => observeSeparately(internals, call) });
  const steps = route.steps.filter(({ layer: { stage, name } }) =>
    stage === "extension" ? !outside.has(name) : stage !== "observed" && stage !== "limited",
  );
  try {
    const result = await runInner(async () => {
      await prepare?.(prepared);
      return runCall(steps, call, route.handler);
    }, call);
    return call.questions?.interruption?.interim ?? result;
  } catch (error) {
    throw publicError(call, error);
  }
}

/** Reports the call to observers as a separate call from now on. */
function observeSeparately({ observers }: ServerInternals, call: ServerCall): void {
  if (observers.around !== undefined && call.ended === undefined) void observers.observe(call, () => ({}));
}

/** Reads a parameter. Throws `invalid_params` unless it is a string. */
export function stringParam(params: Params, name: string, method: string): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw new McpError("invalid_params", `\`params.${name}\` of ${method} must be a string`);
}
