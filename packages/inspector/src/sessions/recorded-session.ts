import {
  type RecordedMessage,
  type RecordedTarget,
  type RecordingHeader,
  RecordingWriter,
  type Redactor,
} from "@parley/mcp/recording";
import type { TargetInfo } from "../contract/connections.js";
import type { StoredEntry } from "../timeline/entry-ring.js";

/** The messages of one connection, not redacted yet. */
export interface RecordedSession {
  readonly target: Pick<TargetInfo, "kind" | "shown">;
  /** The result of the handshake, because `entries` may not have the messages of the handshake. */
  readonly agreed: Pick<RecordingHeader, "revision" | "server">;
  /** The time of the first message. */
  readonly began: Date;
  readonly entries: readonly StoredEntry[];
  /** Remarks for readers of the recording, such as that the recording is not complete. */
  readonly notes: readonly string[];
}

/** Yields the messages of a session in the format of a recording. */
export function* recordedMessages({ entries }: Pick<RecordedSession, "entries">): Generator<RecordedMessage> {
  const first = entries.find(isMessage)?.summary.ms ?? 0;
  for (const entry of entries) if (isMessage(entry)) yield recordedMessage(entry, first);
}

/**
 * Yields the text of a recording without secrets, in the format of `parley record`: one part per message, then the
 * remaining text, then one part per note. A part is empty if the writer buffers the message.
 */
export function* recordingParts(session: RecordedSession, redactor: Redactor): Generator<string> {
  const { target, agreed, began, notes } = session;
  let [lines, isBegun]: [string[], boolean] = [[], false];
  const writer = new RecordingWriter({ target: recordedTarget(target), began, redactor }, (line) => {
    lines.push(isBegun ? line : completeHeader(line, redactor.value(agreed)));
    isBegun = true;
  });
  const flush = () => {
    const text = lines.join("");
    lines = [];
    return text;
  };
  for (const message of recordedMessages(session)) {
    writer.add(message);
    yield flush();
  }
  writer.established();
  yield flush();
  for (const note of notes) yield `${JSON.stringify({ note })}\n`;
}

/**
 * Adds the result of the handshake to the first line of a recording. Values from the recorded messages take precedence.
 */
function completeHeader(header: string, known: unknown): string {
  return `${JSON.stringify(Object.assign({}, known, JSON.parse(header)))}\n`;
}

type MessageEntry = StoredEntry & Required<Pick<StoredEntry, "message">>;

function isMessage(entry: StoredEntry): entry is MessageEntry {
  return entry.message !== undefined;
}

function recordedMessage({ summary, message, about, connectionNumber }: MessageEntry, first: number): RecordedMessage {
  return {
    ms: Math.round((summary.ms - first) * 10) / 10,
    direction: summary.direction ?? "sent",
    message: message ?? {},
    ...(about === undefined ? {} : { about }),
    ...(connectionNumber > 1 ? { connection: connectionNumber } : {}),
  };
}

/**
 * Converts a target for a recording. Recordings distinguish only URLs, commands and modules, so servers of a program
 * and imported files count as modules.
 */
function recordedTarget({ kind, shown }: RecordedSession["target"]): RecordedTarget {
  return { kind: kind === "url" || kind === "command" ? kind : "module", name: shown };
}
