import { UsageError } from "../terminal/usage-error.js";

/** The first member of every recording, and the version of its form. */
export const RECORDING_FORMAT = "parley-recording";
export const RECORDING_VERSION = 1;

/** The server of a recording, without anything that could be a secret. */
export interface RecordedTarget {
  readonly kind: "url" | "command" | "module";
  readonly name: string;
}

/** The first line of a recording. */
export interface RecordingHeader {
  readonly format: typeof RECORDING_FORMAT;
  readonly version: number;
  /** When it began, as ISO 8601. */
  readonly began: string;
  readonly target: RecordedTarget;
  /** The revision that was spoken; absent if there was no handshake. */
  readonly revision?: string;
  readonly server?: { readonly name: string; readonly version: string };
  /** Whether secrets were taken out. */
  readonly redacted: boolean;
}

/** Every further line but notes: one message. */
export interface RecordedMessage {
  /** Milliseconds since the recording began. */
  readonly ms: number;
  /** As the client sees it. */
  readonly direction: "sent" | "received";
  readonly message: Readonly<Record<string, unknown>>;
  /** The request on whose stream a message of the server arrived, where that was known. */
  readonly about?: string | number;
  /** Counts the connections of the session; absent for the first. */
  readonly connection?: number;
}

/** A recorded session. */
export interface Recording {
  readonly header: RecordingHeader;
  readonly messages: readonly RecordedMessage[];
  /** What the recorder has to say about the file, such as that it is not complete. */
  readonly notes: readonly string[];
}

/** Bytes of a recording that are written, and read. */
export const MAX_RECORDING_BYTES = 64 * 1024 * 1024;

/** Reads the text of a recording. Throws a `UsageError` with the line that is wrong; `path` names it. */
export function parseRecording(text: string, path: string): Recording {
  const lines = text.split("\n");
  // A session that was killed may leave a part of its last line.
  const complete = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const values = complete.map((line, at) => parsedLine(line, at === lines.length - 1, path, at + 1));
  const [header, ...rest] = values;
  if (!isHeader(header)) {
    throw new UsageError(`${path} is no recording`, "Name a file that `--record` or `parley record` wrote.");
  }
  if (header.version !== RECORDING_VERSION) {
    throw new UsageError(`${path} has the form ${header.version}, and this is written for ${RECORDING_VERSION}`, NEWER);
  }
  const notes: string[] = [];
  const messages = rest.flatMap((value, at): RecordedMessage[] => {
    if (isMessage(value)) return [value];
    const note = isRecord(value) ? value["note"] : undefined;
    if (typeof note === "string") notes.push(note);
    else if (value !== undefined) throw wrongLine(path, at + 2, "is no message");
    return [];
  });
  return { header, messages, notes };
}

const NEWER = "Use the version of parley that wrote it.";

function parsedLine(line: string, mayBeCut: boolean, path: string, number: number): unknown {
  if (line.trim() === "") return undefined;
  try {
    return JSON.parse(line);
  } catch {
    if (mayBeCut && number > 1) return undefined;
    throw number === 1
      ? new UsageError(`${path} is no recording`, "Name a file that `--record` or `parley record` wrote.")
      : wrongLine(path, number, "is not JSON");
  }
}

function wrongLine(path: string, number: number, what: string): UsageError {
  return new UsageError(`${path}: line ${number} ${what}`, "Correct or remove the line, or record it again.");
}

/** Whether a value is an object of JSON. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isHeader(value: unknown): value is RecordingHeader {
  return isRecord(value) && value["format"] === RECORDING_FORMAT && typeof value["version"] === "number";
}

function isMessage(value: unknown): value is RecordedMessage {
  if (!isRecord(value) || !isRecord(value["message"])) return false;
  const { direction, ms } = value;
  return (direction === "sent" || direction === "received") && typeof ms === "number";
}
