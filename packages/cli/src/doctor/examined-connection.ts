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
import { show } from "../terminal/shown.js";
import type { Checkup, Finding } from "./checkup.js";

/** A server that answers, and what the client noticed about it since. */
export interface ExaminedConnection {
  readonly client: Client;
  /** What the client could work around; a step takes what it caused. */
  takeWarnings(): string[];
  /** Looks again at what may go wrong at any time, when everything else has been looked at. */
  lookAgain?(): Promise<void>;
}

/** Warnings that are kept; a server may cause any number. */
const MOST_WARNINGS = 100;

/** Connects like every command, but keeps what the client would print, and never waits longer than the examination. */
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
      if (warnings.length < MOST_WARNINGS) warnings.push(message);
    },
    ...(debug
      ? {
          onMessage: ({ direction, message }) =>
            terminal.note(show`${direction === "sent" ? "→" : "←"} ${JSON.stringify(message)}`),
        }
      : {}),
    ...more,
  });
  return { client, takeWarnings: () => warnings.splice(0) };
}

/** The finding about a server that was reached, but to which no connection could be made. */
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
