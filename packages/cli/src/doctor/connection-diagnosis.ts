import { type ErrorKind, McpError } from "@parley/mcp";
import { REVISIONS } from "@parley/mcp/protocol";
import type { Finding } from "./checkup.js";

/** What is wrong with a server that is there, but to which no connection could be made. */
export function connectionFinding(error: unknown): Finding {
  if (!McpError.is(error)) {
    const cause = error instanceof Error ? error.message : String(error);
    return { code: "connect_failed", cause, fix: "Run the command again with --debug to see what was sent." };
  }
  const [code, fix] = KINDS[error.kind] ?? [error.kind, error.fix];
  return { code, cause: error.message, fix };
}

/** Codes and advice for a person at a shell, where the library's are for programs. */
const KINDS: Partial<Record<ErrorKind, readonly [code: string, fix: string]>> = {
  unsupported_version: [
    "unsupported_revision",
    `Update the server, or leave out --revision; this client speaks ${REVISIONS.join(", ")}.`,
  ],
  timeout: ["no_answer", "Look at the server's log; one that starts slowly needs more time, such as --timeout 2m."],
  invalid_response: ["not_mcp", "Report it to the author of the server; --debug shows the messages."],
  decode_error: ["not_mcp", "Check that the address is an MCP server; --debug shows the messages."],
  oversized_frame: ["oversized_answer", "Report it to the author of the server: nothing in a handshake is that long."],
  connection_closed: ["connection_lost", "Look at the server's log: it closed the connection during the handshake."],
};
