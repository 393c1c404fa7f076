import { Answerer } from "../client/answers/answerer.js";
import { ClientExtensions } from "../client/contract/extension.js";
import type { ClientOptions } from "../client/contract/options.js";
import type { Question } from "../era/era.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import type { PassedCall } from "./connection/remote-connection.js";

/** One value for all calls that the application makes itself. */
export const APPLICATION = "the application";

/** Stands for the application where a server asks over a connection that clients of a gateway share. */
export function applicationCall(server: string, options: ClientOptions, platform: Platform): PassedCall {
  const answerer = new Answerer(options, platform, new ClientExtensions());
  return {
    caller: APPLICATION,
    async ask(question, signal) {
      if (!answerer.canAnswer(question.method)) return nobody(question);
      answerer.check(question);
      const unwanted = new AbortController();
      const abort = () => unwanted.abort(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      try {
        return await answerer.answer(question, { asker: { name: server, version: "" } }, unwanted);
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
    // The connection tells its messages to `onLog` itself.
    log() {},
  };
}

/** The connection declares what clients of a gateway may be asked; the application itself may have no answers. */
function nobody({ method }: Question): object {
  if (method === "roots/list") return { roots: [] };
  if (method === "elicitation/create") return { action: "cancel" };
  throw new McpError("declined", `nobody is there to answer ${method}`);
}
