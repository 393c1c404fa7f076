import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import { type RecordingOptions, RecordingWriter } from "@parley/mcp/recording";
import type { WireMessage } from "@parley/mcp/transport";
import { UsageError } from "../terminal/usage-error.js";

/** How a session is recorded; `onNote` is told the file too. */
export interface RecorderOptions extends Omit<RecordingOptions, "began"> {
  /** Replace a file that is there. Default: it is refused. */
  readonly force?: boolean;
}

/** Writes the messages of a session to a file, line by line, so that what happened before a crash is there. */
export class Recorder {
  readonly #file: number;
  readonly #writer: RecordingWriter;
  readonly #start = performance.now();
  readonly #connections = new Map<object, number>();
  #open = true;

  /** Makes the file, which only its owner can read. Throws a `UsageError` for one that is there, or cannot be written. */
  constructor(path: string, { force = false, ...options }: RecorderOptions) {
    this.#file = createFile(path, force);
    const onNote = (note: string) => {
      this.#end();
      options.onNote?.(`${path}: ${note}`);
    };
    this.#writer = new RecordingWriter({ ...options, began: new Date(), onNote }, (line) => this.#write(line));
  }

  /** Writes one message; give it to `onMessage` of `connect`. */
  readonly watch = ({ direction, message, about, connection }: WireMessage): void => {
    if (!this.#open) return;
    const known = this.#connections.get(connection) ?? this.#connections.size + 1;
    this.#connections.set(connection, known);
    this.#writer.add({
      ms: Math.round((performance.now() - this.#start) * 10) / 10,
      direction,
      message,
      ...(about === undefined ? {} : { about }),
      ...(known === 1 ? {} : { connection: known }),
    });
  };

  /** The handshake is over: writes the header, and what came before. */
  established(): void {
    this.#writer.established();
  }

  /** Ends the file. What is watched afterwards is not written. */
  close(): void {
    this.established();
    this.#end();
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#file);
  }

  #write(line: string): void {
    if (!this.#open) return;
    try {
      writeFileSync(this.#file, line);
    } catch (reason) {
      // The session goes on without the recording.
      this.#writer.stop(`writing failed (${(reason as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
  }
}

function createFile(path: string, force: boolean): number {
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
