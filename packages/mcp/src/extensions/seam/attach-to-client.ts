import { following } from "../../client/answers/answerer.js";
import type { ClientParts } from "../../client/connection/assemble.js";
import type { ConnectedExtension, ExtendedClient } from "../../client/extension.js";
import { walkTools } from "../../client/features/tools.js";

/** Connects what an extension does at a client. */
export function attachToClient<F>(
  id: string,
  parts: ClientParts,
  connect: (client: ExtendedClient) => ConnectedExtension<F>,
): void {
  parts.extensions.add(id, connect(extendedClient(parts)));
}

function extendedClient(parts: ClientParts): ExtendedClient {
  const { connection, caller, answerer, router, tools } = parts;
  return {
    platform: connection.platform,
    closing: connection.closing.signal,
    ready: async () => connection.ready(),
    get era() {
      return connection.established.era;
    },
    get serverCapabilities() {
      return connection.established.capabilities;
    },
    request: (method, params, options) => caller.call(method, params, options),
    notify: (method, params) => caller.notify(method, params),
    on: (method, listener) => router.on(method, listener),
    async answer(question, signal) {
      answerer.check(question);
      const unwanted = signal === undefined ? new AbortController() : following(signal);
      return answerer.answer(question, connection.established, unwanted);
    },
    canAnswer: (method) => answerer.canAnswer(method),
    async tool(name) {
      for await (const tool of walkTools(tools)) if (tool.name === name) return tool;
      return undefined;
    },
    warn: (message) => caller.warn(message),
  };
}
