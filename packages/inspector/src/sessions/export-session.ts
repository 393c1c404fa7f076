import { McpError } from "@parley/mcp/protocol";
import type { FileStream } from "../contract/sessions.js";
import type { Timeline } from "../timeline/timeline.js";
import { inSlices } from "./in-slices.js";
import { type RecordedSession, recordingParts } from "./recorded-session.js";
import type { SessionConnection } from "./session-connection.js";
import type { SessionRecorder } from "./session-recorder.js";

/** The stores that have the messages of sessions. */
export interface SessionSource {
  readonly timeline: Pick<Timeline, "stored" | "range" | "now">;
  readonly recorder: Pick<SessionRecorder, "recorded">;
}

/**
 * Returns the messages of a connection: the recorded messages or, if there are none, all messages in the timeline.
 * Nothing is redacted. Throws `invalid_params` if there are no messages.
 */
export function sessionOf({ id, info }: SessionConnection, { timeline, recorder }: SessionSource): RecordedSession {
  const recorded = recorder.recorded(id);
  const entries = recorded?.entries ?? timeline.stored(id).filter(({ message }) => message !== undefined);
  const [first] = entries;
  if (first === undefined) {
    throw new McpError("invalid_params", "this connection has no stored messages", {
      fix: "Make a call first. Cleared and dropped messages are lost.",
    });
  }
  const notes: string[] = [];
  if (recorded?.full === true) notes.push("the recording reached its limit, and later messages are missing");
  const dropped = timeline.range().first - 1;
  if (recorded === undefined && dropped > 0) {
    notes.push(`the inspector had dropped ${dropped} entries of all connections when this was written`);
  }
  const began = new Date(Date.now() - (timeline.now() - first.summary.ms));
  const { target, revision, server } = info;
  const agreed = {
    ...(revision === undefined ? {} : { revision }),
    ...(server === undefined ? {} : { server: { name: server.name, version: server.version } }),
  };
  return { target, agreed, began, entries, notes };
}

/**
 * Returns the recording of a connection as a file, without secrets. The file has the messages up to now. Throws like
 * `sessionOf`.
 */
export function exportSession(connection: SessionConnection, source: SessionSource): FileStream {
  const { redactor, info } = connection;
  const session = sessionOf(connection, source);
  const name = fileName(info.server?.name ?? info.target.shown, session.began);
  return {
    name: `${name}.jsonl`,
    mediaType: "application/x-ndjson",
    parts: joinSlices(recordingParts(session, redactor)),
  };
}

/** Joins the parts of each slice into one text. */
export async function* joinSlices(parts: Iterable<string>): AsyncGenerator<string, void> {
  for await (const slice of inSlices(parts)) yield slice.join("");
}

/** Returns a file name for a session that is valid on every system. */
export function fileName(server: string, began: Date): string {
  const plain = server
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return `${plain === "" ? "session" : plain}-${began
    .toISOString()
    .slice(0, 19)
    .replace(/[^0-9]/g, "-")}`;
}
