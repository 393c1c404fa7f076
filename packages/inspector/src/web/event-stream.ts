import type { ServerResponse } from "node:http";
import type { InspectorEvent } from "../contract/inspector-state.js";
import type { InspectorEngine } from "../engine/inspector-engine.js";

/** Maximum number of entries in one event. Further entries follow in the next event. */
const BATCH_SIZE = 500;
/** Minimum interval between two states. Each state is sent as a whole, and faster updates are not visible. */
const STATE_MS = 50;
/** Interval between empty lines, which prevent intermediaries from closing an idle stream. */
const HEARTBEAT_MS = 15_000;

/**
 * Sends events to one page as lines of JSON. Nothing is queued for a slow page: the stream waits until the page has
 * read what was written, and then continues with the entries that the engine still has. Returns a function that ends
 * the stream.
 */
export function streamEvents(engine: InspectorEngine, response: ServerResponse, from: number): () => void {
  const stream = new EventStream(engine, response, from);
  response.once("close", () => stream.end());
  return () => stream.end();
}

class EventStream {
  readonly #engine: InspectorEngine;
  readonly #response: ServerResponse;
  readonly #unsubscribe: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  /** The number of the next entry to send. */
  #next: number;
  /** True while the page has not read what was written. */
  #isBlocked = false;
  #timer: NodeJS.Timeout | undefined;
  #stateSentAt = Number.NEGATIVE_INFINITY;

  constructor(engine: InspectorEngine, response: ServerResponse, from: number) {
    this.#engine = engine;
    this.#response = response;
    this.#next = from;
    this.#unsubscribe = engine.onChange(() => this.#schedule());
    this.#heartbeat = setInterval(() => this.#write(""), HEARTBEAT_MS);
    response.on("drain", () => {
      this.#isBlocked = false;
      this.#send();
    });
    this.#send();
  }

  end(): void {
    this.#unsubscribe();
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#response.end();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isBlocked) return;
    const wait = Math.max(0, this.#stateSentAt + STATE_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#send();
    }, wait);
  }

  #send(): void {
    const late = performance.now() - this.#stateSentAt >= STATE_MS;
    if (late) this.#sendState();
    while (!this.#isBlocked && this.#sendEntries());
    // The entries were sent without the state, so another send is scheduled for the state.
    if (!late) this.#schedule();
  }

  #sendState(): void {
    this.#stateSentAt = performance.now();
    this.#sendEvent({ type: "state", state: this.#engine.state() });
  }

  /** Sends a batch of entries. Returns false if there are none left. */
  #sendEntries(): boolean {
    const entries = this.#engine.entries(this.#next, BATCH_SIZE);
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined) return false;
    this.#sendEvent({ type: "entries", entries, dropped: Math.max(0, first.seq - this.#next) });
    this.#next = last.seq + 1;
    return true;
  }

  #sendEvent(event: InspectorEvent): void {
    this.#write(JSON.stringify(event));
  }

  #write(line: string): void {
    if (!this.#response.writableEnded && !this.#response.write(`${line}\n`)) this.#isBlocked = true;
  }
}
