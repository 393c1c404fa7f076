import {
  type RecordedMessage,
  type RecordedTarget,
  type RecordingHeader,
  type Redactor,
  recordingText,
} from "@parley/mcp/recording";
import type { TargetInfo } from "../contract/connections.js";
import type { StoredEntry } from "../timeline/entry-ring.js";

/** Messages of one connection, as they are to be written down. */
export interface RecordedSession {
  readonly target: Pick<TargetInfo, "kind" | "shown">;
  /** What came of the handshake, which may not be among the messages. */
  readonly agreed: Pick<RecordingHeader, "revision" | "server">;
  /** When the first of them passed. */
  readonly began: Date;
  readonly entries: readonly StoredEntry[];
  /** What a reader should know of the recording, such as that it is not complete. */
  readonly notes: readonly string[];
  /** Takes secrets out. Default: everything is kept, for a recording that leaves no process. */
  readonly redactor?: Redactor | undefined;
}

/** The text of a recording, in the form of `parley record`. */
export function recordingOf({ target, agreed, began, entries, notes, redactor }: RecordedSession): string {
  const first = entries.find(isMessage)?.summary.ms ?? 0;
  const messages = entries.filter(isMessage).map((entry) => recordedMessage(entry, first));
  const text = recordingText({ target: recordedTarget(target), began, redactor }, messages);
  const end = text.indexOf("\n");
  const known = redactor === undefined ? agreed : redactor.value(agreed);
  // The first line is the header, which is an object; what messages tell counts more.
  const header: object = Object.assign({}, known, JSON.parse(text.slice(0, end)));
  return [JSON.stringify(header), text.slice(end), ...notes.map((note) => `${JSON.stringify({ note })}\n`)].join("");
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
