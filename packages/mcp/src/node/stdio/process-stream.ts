import type { Readable, Writable } from "node:stream";
import type { ByteStream, ByteStreamEvents } from "../../transport/channel/stream-channel.js";
import { builtin } from "../builtin.js";

const READ_BYTES = 64 * 1024;
/**
 * Delay before writing to a full pipe again, in milliseconds. Short, because an active reader empties the pipe within 1
 * ms.
 */
const FULL_MS = 2;

/**
 * The stdin and stdout of this process as one byte stream. Pipes are opened with their own sockets instead of
 * `process.stdin` and `process.stdout`.
 *
 * stdout: `process.stdout` writes to pipes synchronously, which blocks the whole program while the client does not
 * read. The socket for stdout does not block. stdin: if it is a pipe, all reads share one buffer.
 */
export function processStream(): ByteStream {
  return new ProcessStream();
}

class ProcessStream implements ByteStream {
  #input: Readable | undefined;
  #output: Writable | undefined;
  #closed = false;
  #events: ByteStreamEvents | undefined;

  open(events: ByteStreamEvents): void {
    this.#events = events;
    this.#output = openOutput();
    this.#output.on("drain", () => events.drained());
    // For example EPIPE: the client no longer reads answers.
    this.#output.on("error", (error) => this.#close(error));
    this.#output.once("close", () => this.#close());
    const input = openInput((chunk) => events.data(chunk));
    this.#input = input;
    let hasEnded = false;
    const ended = () => {
      if (hasEnded) return;
      hasEnded = true;
      events.inputEnded();
    };
    // A failed stdin counts as ended.
    input.on("error", ended);
    input.once("end", ended);
    input.once("close", ended);
    input.resume();
  }

  write(text: string): boolean {
    return this.#output?.writable === true ? this.#output.write(text) : true;
  }

  end(): void {
    const output = this.#output;
    if (output === undefined || !output.writable) this.#close();
    else output.end(() => this.#close());
  }

  destroy(): void {
    this.#output?.destroy();
    this.#close();
  }

  pause(): void {
    this.#input?.pause();
  }

  resume(): void {
    this.#input?.resume();
  }

  #close(reason?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#input?.destroy();
    this.#output?.destroy();
    this.#events?.closed(reason);
  }
}

function openInput(data: (chunk: Uint8Array) => void): Readable {
  if (!isPipe(0)) return process.stdin.on("data", data);
  // `onread` is documented for `net.connect`, but the constructor accepts it too. It reuses one buffer for all reads.
  const options = {
    fd: 0,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback(size: number, buffer: Uint8Array): boolean {
        data(buffer.subarray(0, size));
        return true;
      },
    },
  };
  const { Socket } = builtin("node:net");
  return new Socket(options);
}

function openOutput(): Writable {
  if (isPipe(1)) {
    const { Socket } = builtin("node:net");
    return new Socket({ fd: 1, readable: false, writable: true });
  }
  const { Writable } = builtin("node:stream");
  return new Writable({ decodeStrings: true, write: (chunk: Buffer, _encoding, done) => writeOut(chunk, done) });
}

/** Writes to the descriptor directly. Retries after a short delay if a full pipe fails with EAGAIN. */
function writeOut(chunk: Buffer, done: (error?: Error | null) => void): void {
  builtin("node:fs").write(1, chunk, (error, written) => {
    if (error !== null && error.code !== "EAGAIN") return done(error);
    const rest = error === null ? chunk.subarray(written) : chunk;
    if (rest.length === 0) return done();
    setTimeout(() => writeOut(rest, done), error === null ? 0 : FULL_MS);
  });
}

/** True if a Node socket can wrap the descriptor. False on Bun, whose sockets cannot wrap descriptors. */
function isPipe(fd: number): boolean {
  if (process.versions.bun !== undefined) return false;
  try {
    const kind = builtin("node:fs").fstatSync(fd);
    return kind.isFIFO() || kind.isSocket();
  } catch {
    return false;
  }
}
