import { McpError } from "@parley/mcp/protocol";
import type { WrittenFile } from "../contract/keep.js";
import type { Timeline } from "../timeline/timeline.js";
import { inSlices } from "./in-slices.js";
import type { KeptConnection } from "./kept-connection.js";
import { type RecordedSession, recordingParts } from "./recorded-session.js";
import type { SessionRecorder } from "./session-recorder.js";

/** Where the messages of sessions are. */
export interface SessionSource {
  readonly timeline: Pick<Timeline, "stored" | "range" | "now">;
  readonly recorder: Pick<SessionRecorder, "recorded">;
}

/**
 * The messages of a connection: those that were recorded, or all that the timeline has. Nothing is taken out. Throws
 * `invalid_params` where there is none.
 */
export function sessionOf({ id, info }: KeptConnection, { timeline, recorder }: SessionSource): RecordedSession {
  const recorded = recorder.recorded(id);
  const entries = recorded?.entries ?? timeline.stored(id).filter(({ message }) => message !== undefined);
  const [first] = entries;
  if (first === undefined) {
    throw new McpError("invalid_params", "there is no message of this connection to keep", {
      fix: "Call something first; what was cleared or forgotten is gone.",
    });
  }
  const notes: string[] = [];
  if (recorded?.full === true) notes.push("the recording was full, and later messages are not in it");
  const forgotten = timeline.range().first - 1;
  if (recorded === undefined && forgotten > 0) {
    notes.push(`the inspector had forgotten ${forgotten} entries of all connections when this was written`);
  }
  const began = new Date(Date.now() - (timeline.now() - first.summary.ms));
  const { target, revision, server } = info;
  const agreed = {
    ...(revision === undefined ? {} : { revision }),
    ...(server === undefined ? {} : { server: { name: server.name, version: server.version } }),
  };
  return { target, agreed, began, entries, notes };
}

/** The recording of a connection as a file, without secrets. Throws as `sessionOf` does; the messages are those of this moment. */
export function exportSession(connection: KeptConnection, source: SessionSource): WrittenFile {
  const { redactor, info } = connection;
  const session = sessionOf(connection, source);
  const name = fileName(info.server?.name ?? info.target.shown, session.began);
  return { name: `${name}.jsonl`, mediaType: "application/x-ndjson", parts: joined(recordingParts(session, redactor)) };
}

/** The parts of a text, those of a slice as one. */
export async function* joined(parts: Iterable<string>): AsyncGenerator<string, void> {
  for await (const slice of inSlices(parts)) yield slice.join("");
}

/** A name of a file that every system takes, for a session of a server. */
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
