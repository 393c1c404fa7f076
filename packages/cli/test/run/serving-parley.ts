import { once } from "node:events";
import { PassThrough } from "node:stream";
import { runProgram } from "../../src/program.js";
import type { Io } from "../../src/terminal/io.js";

/** A command line that serves, in this process. `stop` is the signal of the user. */
export class ServingParley implements AsyncDisposable {
  readonly #interrupt = new AbortController();
  readonly #stderr = new PassThrough();
  readonly #ended: Promise<number>;
  #text = "";
  #stdout = "";

  constructor(args: readonly string[], io: Partial<Io> = {}) {
    const stdout = new PassThrough();
    stdout.on("data", (chunk: Buffer) => {
      this.#stdout += chunk;
    });
    this.#stderr.on("data", (chunk: Buffer) => {
      this.#text += chunk;
    });
    this.#ended = runProgram(args, {
      // Somebody sits at it, so that HTTP is what is served without a flag.
      stdin: Object.assign(new PassThrough(), { isTTY: true }),
      stdout,
      stderr: this.#stderr,
      env: { PATH: process.env["PATH"] },
      cwd: process.cwd(),
      home: "/nonexistent",
      platform: process.platform,
      signal: this.#interrupt.signal,
      ...io,
    });
  }

  get stderr(): string {
    return this.#text;
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** Waits until stderr matches, from the position `from` on. */
  async told(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#text.slice(from));
      if (found !== null) return found;
      const code = await Promise.race([this.#ended, once(this.#stderr, "data")]);
      if (typeof code === "number") throw new Error(`ended with ${code}: ${this.#text}`);
    }
  }

  async url(): Promise<string> {
    return (await this.told(/serving .* at (http:\S+)/))[1] ?? "";
  }

  /** Interrupts it, and gives its exit code. */
  stop(): Promise<number> {
    this.#interrupt.abort(new Error("interrupted"));
    return this.#ended;
  }

  /** The exit code of a command that ends by itself. */
  get ended(): Promise<number> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
