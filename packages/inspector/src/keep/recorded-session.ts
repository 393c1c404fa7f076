import {
  type RecordedMessage,
  type RecordedTarget,
  type RecordingHeader,
  RecordingWriter,
  type Redactor,
} from "@parley/mcp/recording";
import type { TargetInfo } from "../contract/connections.js";
import type { StoredEntry } from "../timeline/entry-ring.js";

/** Messages of one connection, as they are to be written down. Nothing is taken out of them. */
export interface RecordedSession {
  readonly target: Pick<TargetInfo, "kind" | "shown">;
  /** What came of the handshake, which may not be among the messages. */
  readonly agreed: Pick<RecordingHeader, "revision" | "server">;
  /** When the first of them passed. */
  readonly began: Date;
  readonly entries: readonly StoredEntry[];
  /** What a reader should know of the recording, such as that it is not complete. */
  readonly notes: readonly string[];
}

/** The messages of a session, as recordings have them. */
export function* recordedMessages({ entries }: Pick<RecordedSession, "entries">): Generator<RecordedMessage> {
  const first = entries.find(isMessage)?.summary.ms ?? 0;
  for (const entry of entries) if (isMessage(entry)) yield recordedMessage(entry, first);
}

/** The text of a recording without secrets, in the form of `parley record`: one part for each message, some of them empty. */
export function* recordingParts(session: RecordedSession, redactor: Redactor): Generator<string> {
  const { target, agreed, began, notes } = session;
  let [lines, isBegun]: [string[], boolean] = [[], false];
  const writer = new RecordingWriter({ target: recordedTarget(target), began, redactor }, (line) => {
    lines.push(isBegun ? line : completed(line, redactor.value(agreed)));
    isBegun = true;
  });
  const taken = () => {
    const text = lines.join("");
    lines = [];
    return text;
  };
  for (const message of recordedMessages(session)) {
    writer.add(message);
    yield taken();
  }
  writer.established();
  yield taken();
  for (const note of notes) yield `${JSON.stringify({ note })}\n`;
}

/** The first line of a recording, with what is known besides; what messages tell counts more. */
function completed(header: string, known: unknown): string {
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

/** A recording knows three kinds: what is given by a program or a file is code like a module. */
function recordedTarget({ kind, shown }: RecordedSession["target"]): RecordedTarget {
  return { kind: kind === "url" || kind === "command" ? kind : "module", name: shown };
}
