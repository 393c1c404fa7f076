import { McpError } from "@parley/mcp/protocol";
import type { ClientObserver } from "@parley/mcp/telemetry";

/**
 * Tells what a server sent that is no message, or no answer to its request. Such things are in no message of the timeline, which
 * would show the request as if it still waited.
 */
export function protocolFaults(tell: (text: string) => void): Pick<ClientObserver, "request" | "fault"> {
  return {
    fault: ({ message }) => tell(`the server broke the protocol: ${message}`),
    request: () => ({
      ended: ({ outcome, error }) => {
        if (outcome !== "error") return;
        const { kind, message } = McpError.from(error);
        if (kind === "invalid_response") tell(`the server broke the protocol: ${message}`);
        else if (kind === "timeout") tell(message);
      },
    }),
  };
}
