import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import type { WireMessage } from "@parley/mcp/transport";
import { UsageError } from "../terminal/usage-error.js";
import { handshakeOf } from "./recorded-handshake.js";
import {
  MAX_RECORDING_BYTES,
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedMessage,
  type RecordedTarget,
  type RecordingHeader,
} from "./recording.js";
import type { Redactor } from "./redactor.js";

/** How a session is recorded. */
export interface RecorderOptions {
  readonly target: RecordedTarget;
  /** Takes secrets out; absent where the user wants everything. */
  readonly redactor?: Redactor | undefined;
  /** Replace a file that is there. Default: it is refused. */
  readonly force?: boolean;
  /** Told when the recording cannot go on. */
  readonly onNote: (note: string) => void;
  readonly maxBytes?: number;
}

/** Messages that are held until the handshake is over; it has a handful. */
const MOST_HELD = 100;

/** Writes the messages of a session to a file, line by line, so that what happened before a crash is there. */
export class Recorder {
  readonly #file: number;
  readonly #path: string;
  readonly #options: RecorderOptions;
  readonly #began = Date.now();
  readonly #start = performance.now();
  readonly #connections = new Map<object, number>();
  /** Undefined when the header is written. */
  #held: RecordedMessage[] | undefined = [];
  #bytes = 0;
  #open = true;

  /** Makes the file, which only its owner can read. Throws a `UsageError` for one that is there, or cannot be written. */
  constructor(path: string, options: RecorderOptions) {
    this.#path = path;
    this.#options = options;
    this.#file = create(path, options.force === true);
  }

  /** Writes one message; give it to `onMessage` of `connect`. */
  readonly watch = ({ direction, message, about, connection }: WireMessage): void => {
    if (!this.#open) return;
    const known = this.#connections.get(connection) ?? this.#connections.size + 1;
    this.#connections.set(connection, known);
    const { redactor } = this.#options;
    const line: RecordedMessage = {
      ms: Math.round((performance.now() - this.#start) * 10) / 10,
      direction,
      // A copy of an object is an object.
      message: (redactor === undefined ? message : redactor.value(message)) as RecordedMessage["message"],
      ...(about === undefined ? {} : { about }),
      ...(known === 1 ? {} : { connection: known }),
    };
    if (this.#held === undefined) this.#write(line);
    else if (this.#held.push(line) > MOST_HELD) this.established();
  };

  /** The handshake is over: writes the header, and what came before. */
  established(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    const header: RecordingHeader = {
      format: RECORDING_FORMAT,
      version: RECORDING_VERSION,
      began: new Date(this.#began).toISOString(),
      target: this.#options.target,
      ...handshakeOf(held),
      redacted: this.#options.redactor !== undefined,
    };
    this.#write(header);
    for (const line of held) this.#write(line);
  }

  /** Ends the file. What is watched afterwards is not written. */
  close(): void {
    this.established();
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#file);
  }

  #write(value: object): void {
    if (!this.#open) return;
    const line = `${JSON.stringify(value)}\n`;
    const { maxBytes = MAX_RECORDING_BYTES } = this.#options;
    const length = Buffer.byteLength(line);
    if (this.#bytes + length + NOTE_BYTES > maxBytes) return this.#stop(`it would be longer than ${maxBytes} bytes`);
    try {
      writeFileSync(this.#file, line);
      this.#bytes += length;
    } catch (reason) {
      this.#stop(`writing failed (${(reason as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
  }

  /** The session goes on without the recording. */
  #stop(why: string): void {
    const note = `the recording ends here: ${why}`;
    try {
      writeFileSync(this.#file, `${JSON.stringify({ note })}\n`);
    } catch {
      // The user is told below.
    }
    this.#open = false;
    closeSync(this.#file);
    this.#options.onNote(`${this.#path}: ${note}`);
  }
}

/** Room for the note that says why a recording ends. */
const NOTE_BYTES = 200;

function create(path: string, force: boolean): number {
  try {
    const file = openSync(path, force ? "w" : "wx", 0o600);
    if (fstatSync(file).isFile()) {
      // One that was there has a mode of its own.
      fchmodSync(file, 0o600);
      return file;
    }
    closeSync(file);
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "is there already" : `cannot be written (${code ?? "unknown"})`;
    throw new UsageError(`${path} ${why}`, "Name another file for the recording, or remove this one.");
  }
  throw new UsageError(`${path} is no file`, "Name a file for the recording.");
}
