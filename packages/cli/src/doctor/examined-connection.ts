import { type Client, type ClientOptions, connect, type Revision, type Target } from "@parley/mcp";
import type { Invocation } from "../commands/command.js";
import { show } from "../terminal/shown.js";
import type { Checkup } from "./checkup.js";

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
