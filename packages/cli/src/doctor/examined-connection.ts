import {
  type Client,
  type ClientOptions,
  connect,
  type ErrorKind,
  McpError,
  type Revision,
  type Target,
} from "@parley/mcp";
import { REVISIONS } from "@parley/mcp/protocol";
import type { Invocation } from "../commands/command.js";
import { show } from "../terminal/terminal-text.js";
import type { Checkup, Finding } from "./checkup.js";

/** An open connection and the warnings that the client collects. */
export interface ExaminedConnection {
  readonly client: Client;
  /** Returns and clears the warnings since the last call. */
  drainWarnings(): string[];
  /**
   * Repeats a check whose result can change at any time, such as the check of stdout. Called after all other steps.
   */
  recheck?(): Promise<void>;
}

/** Maximum number of stored warnings; further ones are dropped. A server may cause any number. */
const MAX_WARNINGS = 100;

/**
 * Connects like every other command, but stores the warnings that the client would print. Limits the wait to the
 * remaining time of the checkup.
 */
export async function openExamined(
  where: Target | Parameters<typeof connect>[0],
  checkup: Checkup,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  more: Pick<ClientOptions, "auth" | "headers"> = {},
): Promise<ExaminedConnection> {
  const warnings: string[] = [];
  const revision = options.text("revision") as Revision | undefined;
  const debug = options.flag("debug");
  const ms = checkup.budget();
  const client = await connect(where, {
    name: "parley",
    signal: checkup.signal,
    timeouts: { connectMs: ms, idleMs: ms },
    ...(revision === undefined ? {} : { revisions: [revision] }),
    onWarning: (message) => {
      if (warnings.length < MAX_WARNINGS) warnings.push(message);
    },
    ...(debug
      ? {
          onMessage: ({ direction, message }) =>
            terminal.note(show`${direction === "sent" ? "→" : "←"} ${JSON.stringify(message)}`),
        }
      : {}),
    ...more,
  });
  return { client, drainWarnings: () => warnings.splice(0) };
}

/** Describes why the handshake failed, although the server was reached. */
export function connectionFinding(error: unknown): Finding {
  if (!McpError.is(error)) {
    const cause = error instanceof Error ? error.message : String(error);
    return { code: "connect_failed", cause, fix: "Run the command again with --debug to see what was sent." };
  }
  const [code, fix] = KINDS[error.kind] ?? [error.kind, error.fix];
  return { code, cause: error.message, fix };
}

/** Codes and advice for a user at a shell, by kind of error. The library's own advice is for programmers. */
const KINDS: Partial<Record<ErrorKind, readonly [code: string, fix: string]>> = {
  unsupported_version: [
    "unsupported_revision",
    `Update the server, or leave out --revision; this client speaks ${REVISIONS.join(", ")}.`,
  ],
  timeout: ["no_answer", "Check the server's log. If the server starts slowly, allow more time: --timeout 2m."],
  invalid_response: ["not_mcp", "Report it to the author of the server; --debug shows the messages."],
  decode_error: ["not_mcp", "Check that the address is an MCP server; --debug shows the messages."],
  oversized_frame: ["oversized_answer", "Report it to the author of the server: no handshake message is that long."],
  connection_closed: ["connection_lost", "Check the server's log: it closed the connection during the handshake."],
};
