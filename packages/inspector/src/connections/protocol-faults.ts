import { McpError } from "@parley/mcp/protocol";
import type { ClientObserver } from "@parley/mcp/telemetry";
import type { HttpWatcher } from "./http-watcher.js";

/**
 * Tells what a server sent that is no message, or no answer to its request. Such things are in no message of the timeline, which
 * would show the request as if it still waited; over HTTP, the request then has the body that came.
 */
export function protocolFaults(
  tell: (text: string) => void,
  http?: Pick<HttpWatcher, "showBody">,
): Pick<ClientObserver, "request" | "fault"> {
  return {
    fault: ({ message }) => tell(`the server broke the protocol: ${message}`),
    request: () => ({
      ended: ({ outcome, error, requestId }) => {
        if (outcome !== "error") return;
        const { kind, message } = McpError.from(error);
        if (kind === "timeout") tell(message);
        if (kind !== "invalid_response") return;
        tell(`the server broke the protocol: ${message}`);
        http?.showBody(requestId);
      },
    }),
  };
}
