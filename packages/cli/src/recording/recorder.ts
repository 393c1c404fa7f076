import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import { type RecordingOptions, RecordingWriter } from "@parley/mcp/recording";
import type { WireMessage } from "@parley/mcp/transport";
import { UsageError } from "../terminal/usage-error.js";

/** Options of a recorder. The texts for `onNote` begin with the path of the file. */
export interface RecorderOptions extends Omit<RecordingOptions, "began"> {
  /** Replaces an existing file. Default: false, so that no recording is lost by accident. */
  readonly force?: boolean;
}

/** Writes the messages of a session to a file line by line, so that a crash does not lose the earlier messages. */
export class Recorder {
  readonly #file: number;
  readonly #writer: RecordingWriter;
  readonly #start = performance.now();
  readonly #connections = new Map<object, number>();
  #open = true;

  /**
   * Creates the file, readable only by its owner. Throws a `UsageError` if the file cannot be written, or if it exists
   * and `force` is false.
   */
  constructor(path: string, { force = false, ...options }: RecorderOptions) {
    this.#file = createFile(path, force);
    const onNote = (note: string) => {
      this.#end();
      options.onNote?.(`${path}: ${note}`);
    };
    this.#writer = new RecordingWriter({ ...options, began: new Date(), onNote }, (line) => this.#write(line));
  }

  /** Records one message. Pass this function to `connect` as `onMessage`. */
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

  /** Writes the header and the messages of the handshake. Call it after the handshake. */
  established(): void {
    this.#writer.established();
  }

  /** Closes the file. Later messages are ignored. */
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
      // The session continues without the recording.
      this.#writer.stop(`writing failed (${(reason as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
  }
}

function createFile(path: string, force: boolean): number {
  try {
    const file = openSync(path, force ? "w" : "wx", 0o600);
    if (fstatSync(file).isFile()) {
      // Opening an existing file does not change its mode, so set the mode explicitly.
      fchmodSync(file, 0o600);
      return file;
    }
    closeSync(file);
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "already exists" : `cannot be written (${code ?? "unknown"})`;
    throw new UsageError(`${path} ${why}`, "Name another file for the recording, or remove this one.");
  }
  throw new UsageError(`${path} is not a regular file`, "Name a file for the recording.");
}
