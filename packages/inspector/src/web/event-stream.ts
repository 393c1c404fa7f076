import type { ServerResponse } from "node:http";
import type { InspectorEvent } from "../contract/inspector-state.js";
import type { InspectorEngine } from "../engine/inspector-engine.js";

const BATCH = 500;
/** The state goes out as a whole, so it is not sent more often than a person can see. */
const STATE_MS = 50;
/** Keeps what is in between from taking the stream for dead. */
const HEARTBEAT_MS = 15_000;

/**
 * Tells one page what changes, as lines of JSON. What the page does not read in time is not queued: the stream waits until the page
 * has read, and goes on from the entries that the engine still has. Returns what ends it.
 */
export function streamEvents(engine: InspectorEngine, response: ServerResponse, from: number): () => void {
  const stream = new EventStream(engine, response, from);
  response.once("close", () => stream.end());
  return () => stream.end();
}

class EventStream {
  readonly #engine: InspectorEngine;
  readonly #response: ServerResponse;
  readonly #silence: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  /** The entry to be sent next. */
  #next: number;
  /** Set while the page has not read what was written. */
  #waiting = false;
  #timer: NodeJS.Timeout | undefined;
  #statedAt = Number.NEGATIVE_INFINITY;

  constructor(engine: InspectorEngine, response: ServerResponse, from: number) {
    this.#engine = engine;
    this.#response = response;
    this.#next = from;
    this.#silence = engine.onChange(() => this.#soon());
    this.#heartbeat = setInterval(() => this.#write(""), HEARTBEAT_MS);
    response.on("drain", () => {
      this.#waiting = false;
      this.#send();
    });
    this.#send();
  }

  end(): void {
    this.#silence();
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#response.end();
  }

  #soon(): void {
    if (this.#timer !== undefined || this.#waiting) return;
    const wait = Math.max(0, this.#statedAt + STATE_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#send();
    }, wait);
  }

  #send(): void {
    const late = performance.now() - this.#statedAt >= STATE_MS;
    if (late) this.#sendState();
    while (!this.#waiting && this.#sendEntries());
    // Another state may be due: the entries were sent without it.
    if (!late) this.#soon();
  }

  #sendState(): void {
    this.#statedAt = performance.now();
    this.#tell({ type: "state", state: this.#engine.state() });
  }

  /** Whether there may be more. */
  #sendEntries(): boolean {
    const entries = this.#engine.entries(this.#next, BATCH);
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined) return false;
    this.#tell({ type: "entries", entries, dropped: Math.max(0, first.seq - this.#next) });
    this.#next = last.seq + 1;
    return true;
  }

  #tell(event: InspectorEvent): void {
    this.#write(JSON.stringify(event));
  }

  #write(line: string): void {
    if (!this.#response.writableEnded && !this.#response.write(`${line}\n`)) this.#waiting = true;
  }
}
