import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";

/** The member `format` of the first line of every recording. */
export const RECORDING_FORMAT = "parley-recording";
/** The version of the file format. */
export const RECORDING_VERSION = 1;

/** The recorded server, without secrets. */
export interface RecordedTarget {
  /** How clients reach the server: at an HTTP URL, by starting a command, or by importing a module. */
  readonly kind: "url" | "command" | "module";
  /** The URL, command or path. */
  readonly name: string;
}

/** The first line of a recording. */
export interface RecordingHeader {
  /** Marks the file as a recording. */
  readonly format: typeof RECORDING_FORMAT;
  /** The version of the file format. */
  readonly version: number;
  /** The time at which the recording began, in ISO 8601. */
  readonly began: string;
  /** The server that the client connected to. */
  readonly target: RecordedTarget;
  /** The protocol revision of the session. Absent if the handshake did not complete. */
  readonly revision?: string;
  /** The name and version that the server reported. Absent if the handshake did not complete. */
  readonly server?: { readonly name: string; readonly version: string };
  /** True if secrets were removed. */
  readonly redacted: boolean;
}

/** One message, on its own line after the header. */
export interface RecordedMessage {
  /** Milliseconds since the recording began. */
  readonly ms: number;
  /** The direction as the client sees it. */
  readonly direction: "sent" | "received";
  /** The JSON-RPC message. */
  readonly message: Readonly<Record<string, unknown>>;
  /** The id of the request on whose stream a message from the server arrived. Absent if unknown. */
  readonly about?: string | number;
  /** The number of the connection within the session, from 1. Absent for the first connection. */
  readonly connection?: number;
}

/** A recorded session. */
export interface Recording {
  /** The first line of the file. */
  readonly header: RecordingHeader;
  /** The messages in the order in which they were sent and received. */
  readonly messages: readonly RecordedMessage[];
  /** Notes of the recorder, for example that the recording is incomplete. */
  readonly notes: readonly string[];
}

/**
 * Maximum size of a recording, in bytes. A writer ends its recording at this size, and `parseRecording` rejects longer
 * texts.
 */
export const MAX_RECORDING_BYTES = 64 * 1024 * 1024;

/**
 * Parses the text of a recording. `name` identifies the text in error messages, for example the name of its file.
 * Throws `invalid_definition`, with the number of the line if a single line is invalid.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/cli-record.md | Recording and replaying}
 */
export function parseRecording(text: string, name: string): Recording {
  // A text has at least as many UTF-8 bytes as UTF-16 units, so a text with more units is certainly too large.
  if (text.length > MAX_RECORDING_BYTES)
    throw recordingError(`${name} is longer than ${MAX_RECORDING_BYTES} bytes`, TOO_LONG_FIX);
  const lines = text.split("\n");
  // A killed session may leave an incomplete last line.
  const complete = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const values = complete.map((line, at) => parsedLine(line, at === lines.length - 1, name, at + 1));
  const [header, ...rest] = values;
  if (!isHeader(header)) throw recordingError(`${name} is not a recording`, NOT_A_RECORDING_FIX);
  if (header.version !== RECORDING_VERSION) {
    throw recordingError(
      `${name} has format version ${header.version}, but only ${RECORDING_VERSION} is supported`,
      OTHER_VERSION_FIX,
    );
  }
  if (!isComplete(header)) throw lineError(name, 1, "is not a valid header");
  const notes: string[] = [];
  const messages = rest.flatMap((value, at): RecordedMessage[] => {
    if (isMessage(value)) return [value];
    const note = isObject(value) ? value["note"] : undefined;
    if (typeof note === "string") notes.push(note);
    else if (value !== undefined) throw lineError(name, at + 2, "is not a message");
    return [];
  });
  return { header, messages, notes };
}

const TOO_LONG_FIX = "Split it, or record a shorter session.";
const NOT_A_RECORDING_FIX = "Pass a file that `--record` or `parley record` wrote.";
const OTHER_VERSION_FIX = "Use the version of Parley that wrote it.";

function parsedLine(line: string, mayBeCut: boolean, name: string, number: number): unknown {
  if (line.trim() === "") return undefined;
  try {
    return JSON.parse(line);
  } catch {
    if (mayBeCut && number > 1) return undefined;
    throw number === 1
      ? recordingError(`${name} is not a recording`, NOT_A_RECORDING_FIX)
      : lineError(name, number, "is not JSON");
  }
}

function recordingError(message: string, fix: string): McpError {
  return new McpError("invalid_definition", message, { fix });
}

function lineError(name: string, number: number, what: string): McpError {
  return recordingError(`${name}: line ${number} ${what}`, "Correct or remove the line, or record the session again.");
}

function isHeader(value: unknown): value is Pick<RecordingHeader, "format" | "version"> {
  return isObject(value) && value["format"] === RECORDING_FORMAT && typeof value["version"] === "number";
}

/** True if the members of the header have the right types. A recording may come from an untrusted source. */
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

/** Returns the revision and the server of a session, from the answer to its handshake. */
export function handshakeOf(messages: readonly RecordedMessage[]): Pick<RecordingHeader, "revision" | "server"> {
  const requests = new Map<unknown, Readonly<Record<string, unknown>>>();
  for (const { direction, message } of messages) {
    if (direction === "sent") requests.set(message["id"], message);
    const request = direction === "received" ? requests.get(message["id"]) : undefined;
    const { result } = message;
    if (request === undefined || !isObject(result)) continue;
    if (request["method"] === "initialize") return handshakeInfo(result["protocolVersion"], result["serverInfo"]);
    if (request["method"] !== "server/discover") continue;
    return handshakeInfo(metaOf(request["params"])[`${META}protocolVersion`], metaOf(result)[`${META}serverInfo`]);
  }
  return {};
}

/**
 * Merges the capabilities that the recorded clients declared. Several clients may share one connection, so a recording
 * may contain several declarations. A replay declares the same capabilities, because servers offer some tools only to
 * clients with certain capabilities.
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

function handshakeInfo(revision: unknown, info: unknown): Pick<RecordingHeader, "revision" | "server"> {
  const { name, version } = isObject(info) ? info : {};
  return {
    ...(typeof revision === "string" ? { revision } : {}),
    ...(typeof name === "string" && typeof version === "string" ? { server: { name, version } } : {}),
  };
}
