import type { Output } from "./io.js";
import type { Shown } from "./shown.js";
import { cutShown } from "./table.js";

/** How often the line is drawn at most; a server may report thousands of steps in a second. */
const SHORTEST_PAUSE_MS = 50;
const ERASE = "\r\u001b[2K";

/** One line at the bottom of a terminal that is drawn again and again. Where stderr is no terminal, nothing is drawn. */
export class StatusLine {
  readonly #stream: Output;
  #line: Shown | undefined;
  #drawn = false;
  #held = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(stream: Output) {
    this.#stream = stream;
  }

  /** Whether anybody sees it. */
  get visible(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Shows this line in place of the one before; `undefined` takes it away. */
  set(line: Shown | undefined): void {
    this.#line = line;
    if (line === undefined) return this.#erase();
    const now = performance.now();
    if (now - this.#lastMs < SHORTEST_PAUSE_MS) return;
    this.#lastMs = now;
    this.#draw();
  }

  /** Writes something that stays above the line. */
  above(write: () => void): void {
    this.#erase();
    write();
    this.#draw();
  }

  /** Keeps the line away while a question is asked. */
  async without<T>(ask: () => Promise<T>): Promise<T> {
    this.#held++;
    this.#erase();
    try {
      return await ask();
    } finally {
      this.#held--;
      this.#draw();
    }
  }

  #draw(): void {
    if (!this.visible || this.#line === undefined || this.#held > 0) return;
    this.#stream.write(`${ERASE}${cutShown(this.#line, (this.#stream.columns ?? 80) - 1).text}`);
    this.#drawn = true;
  }

  #erase(): void {
    if (this.#drawn) this.#stream.write(ERASE);
    this.#drawn = false;
  }
}
