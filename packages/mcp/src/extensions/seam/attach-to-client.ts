import type { ClientCore } from "../../client/assemble.js";
import type { ConnectedExtension, ExtendedClient } from "../../client/contract/extension.js";
import { walkTools } from "../../client/features/tools.js";
import { checkedNotificationMiddleware } from "../../era/notification-middleware.js";
import { onAbort } from "../../platform/on-abort.js";
import { checkOptions } from "../../protocol/check-options.js";
import type { Extension } from "../../protocol/extension.js";
import type { Revision } from "../../protocol/revisions.js";
import { checkDeclared, checkReturned } from "./check-extension.js";

/** Connects the client side of an extension to one client. */
export function attachToClient<F>(
  { id, methods = [], resultTypes = [] }: Extension,
  core: ClientCore,
  connect: (client: ExtendedClient) => ConnectedExtension<F>,
): void {
  const what = `\`client\` of the extension ${id}`;
  const connected = checkReturned(what, () => connect(extendedClient(core)));
  checkOptions<ConnectedExtension<unknown>, typeof MEMBERS>(what, connected, MEMBERS);
  checkDeclared(
    `\`handlers\` of ${what}`,
    connected.handlers,
    methods.map(({ method }) => method),
    "List it in `methods` of the extension.",
  );
  checkDeclared(
    `\`completes\` of ${what}`,
    connected.completes,
    resultTypes,
    "List it in `resultTypes` of the extension.",
  );
  const { capabilities, aroundNotifications } = connected;
  if (aroundNotifications !== undefined)
    core.notifications.push(...checkedNotificationMiddleware([aroundNotifications]));
  const declares = (revision: Revision) =>
    checkReturned(`\`capabilities\` of the extension ${id}`, () => capabilities?.(revision) ?? {});
  core.extensions.add(id, capabilities === undefined ? connected : { ...connected, capabilities: declares });
}

const MEMBERS = "feature capabilities outgoing aroundNotifications completes handlers answering close";

function extendedClient(core: ClientCore): ExtendedClient {
  const { connection, caller, answerer, router, tools } = core;
  return {
    platform: connection.platform,
    closing: connection.closing.signal,
    ready: async () => (connection.current === undefined ? connection.ready() : undefined),
    get era() {
      return (connection.last ?? connection.established).era;
    },
    get serverCapabilities() {
      return (connection.last ?? connection.established).capabilities;
    },
    request: (method, params, options) => caller.call(method, params, options),
    notify: (method, params) => caller.notify(method, params),
    on: (method, listener) => router.on(method, listener),
    async answer(question, signal) {
      answerer.check(question);
      const unwanted = new AbortController();
      const closing = connection.closing.signal;
      const withdraw = () => unwanted.abort((signal?.aborted === true ? signal : closing).reason);
      const leaves = [onAbort(signal, withdraw), onAbort(closing, withdraw)];
      try {
        return await answerer.answer(question, connection.established, unwanted);
      } finally {
        for (const leave of leaves) leave();
      }
    },
    canAnswer: (method) => answerer.canAnswer(method),
    async tool(name) {
      for await (const tool of walkTools(tools)) if (tool.name === name) return tool;
      return undefined;
    },
    warn: (message) => caller.warn(message),
  };
}
