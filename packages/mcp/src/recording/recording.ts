import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";

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
  /** Notes of the recorder, such as that the file is not complete. */
  readonly notes: readonly string[];
}

/** Bytes of a recording that are written, and read. */
export const MAX_RECORDING_BYTES = 64 * 1024 * 1024;

/**
 * Reads the text of a recording. Throws `invalid_definition` with the line that is wrong; `name` is what the text is called there,
 * such as its file.
 */
export function parseRecording(text: string, name: string): Recording {
  // No text has fewer bytes than characters.
  if (text.length > MAX_RECORDING_BYTES) throw wrong(`${name} is longer than ${MAX_RECORDING_BYTES} bytes`, SHORTER);
  const lines = text.split("\n");
  // A session that was killed may leave a part of its last line.
  const complete = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const values = complete.map((line, at) => parsedLine(line, at === lines.length - 1, name, at + 1));
  const [header, ...rest] = values;
  if (!isHeader(header)) throw wrong(`${name} is no recording`, WHICH);
  if (header.version !== RECORDING_VERSION) {
    throw wrong(`${name} has the form ${header.version}, and this is written for ${RECORDING_VERSION}`, NEWER);
  }
  if (!isComplete(header)) throw wrongLine(name, 1, "does not say what was recorded");
  const notes: string[] = [];
  const messages = rest.flatMap((value, at): RecordedMessage[] => {
    if (isMessage(value)) return [value];
    const note = isObject(value) ? value["note"] : undefined;
    if (typeof note === "string") notes.push(note);
    else if (value !== undefined) throw wrongLine(name, at + 2, "is no message");
    return [];
  });
  return { header, messages, notes };
}

const SHORTER = "Split it, or record a shorter session.";
const WHICH = "Name a file that `--record` or `parley record` wrote.";
const NEWER = "Use the version of parley that wrote it.";

function parsedLine(line: string, mayBeCut: boolean, name: string, number: number): unknown {
  if (line.trim() === "") return undefined;
  try {
    return JSON.parse(line);
  } catch {
    if (mayBeCut && number > 1) return undefined;
    throw number === 1 ? wrong(`${name} is no recording`, WHICH) : wrongLine(name, number, "is not JSON");
  }
}

function wrong(message: string, fix: string): McpError {
  return new McpError("invalid_definition", message, { fix });
}

function wrongLine(name: string, number: number, what: string): McpError {
  return wrong(`${name}: line ${number} ${what}`, "Correct or remove the line, or record it again.");
}

function isHeader(value: unknown): value is Pick<RecordingHeader, "format" | "version"> {
  return isObject(value) && value["format"] === RECORDING_FORMAT && typeof value["version"] === "number";
}

/** Whether the members that are shown and used are of their kinds; a recording may come from anybody. */
function isComplete(header: Partial<Record<keyof RecordingHeader, unknown>>): header is RecordingHeader {
  const { target, server, revision } = header;
  if (!isObject(target) || typeof target["kind"] !== "string" || typeof target["name"] !== "string") return false;
  if (revision !== undefined && typeof revision !== "string") return false;
  return (
    server === undefined ||
    (isObject(server) && typeof server["name"] === "string" && typeof server["version"] === "string")
  );
}

function isMessage(value: unknown): value is RecordedMessage {
  if (!isObject(value) || !isObject(value["message"])) return false;
  const { direction, ms } = value;
  return (direction === "sent" || direction === "received") && typeof ms === "number";
}

const META = "io.modelcontextprotocol/";

/** The revision and the server of a session, by the first messages of it. */
export function handshakeOf(messages: readonly RecordedMessage[]): Pick<RecordingHeader, "revision" | "server"> {
  const asked = new Map<unknown, Readonly<Record<string, unknown>>>();
  for (const { direction, message } of messages) {
    if (direction === "sent") asked.set(message["id"], message);
    const request = direction === "received" ? asked.get(message["id"]) : undefined;
    const { result } = message;
    if (request === undefined || !isObject(result)) continue;
    if (request["method"] === "initialize") return facts(result["protocolVersion"], result["serverInfo"]);
    if (request["method"] !== "server/discover") continue;
    return facts(metaOf(request["params"])[`${META}protocolVersion`], metaOf(result)[`${META}serverInfo`]);
  }
  return {};
}

/**
 * What the recorded clients declared that they can be asked for, together: servers offer some tools to such clients alone. Behind
 * one connection may be several of them.
 */
export function recordedCapabilities(messages: readonly RecordedMessage[]): Readonly<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const { direction, message } of messages) {
    const params = direction === "sent" && isObject(message["params"]) ? message["params"] : {};
    const declared =
      message["method"] === "initialize" ? params["capabilities"] : metaOf(params)[`${META}clientCapabilities`];
    for (const [name, value] of Object.entries(isObject(declared) ? declared : {})) {
      const known = all[name];
      all[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
    }
  }
  return all;
}

function metaOf(value: unknown): Record<string, unknown> {
  const meta = isObject(value) ? value["_meta"] : undefined;
  return isObject(meta) ? meta : {};
}

function facts(revision: unknown, info: unknown): Pick<RecordingHeader, "revision" | "server"> {
  const { name, version } = isObject(info) ? info : {};
  return {
    ...(typeof revision === "string" ? { revision } : {}),
    ...(typeof name === "string" && typeof version === "string" ? { server: { name, version } } : {}),
  };
}
