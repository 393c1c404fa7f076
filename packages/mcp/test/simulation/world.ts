import { hashText, type Prng, prng } from "./prng.js";
import type { Rule } from "./rules.js";

/** Something that will happen. */
export interface Pending {
  readonly at: number;
  readonly order: number;
  readonly name: string;
  run: (() => void) | undefined;
}

/** Deliveries that keep their order, whatever their delays. */
export interface Lane {
  last: number;
}

/** A rule that did not hold. */
export interface Violation {
  readonly rule: Rule;
  readonly what: string;
  readonly at: number;
}

const MICRO = 1000;

/**
 * The one source of time and order in a run: everything that happens is an event of this world, and events happen one
 * at a time. The clock runs in microseconds, so that what keeps an order has room between two milliseconds.
 */
export class World {
  readonly seed: number;
  readonly random: Prng;
  readonly violations: Violation[] = [];
  /** Called after each event, when everything that it set off in this turn has run. */
  readonly checks: (() => void)[] = [];
  /** Every event as a line, where somebody wants to read them. */
  readonly log: string[] | undefined;
  events = 0;
  #micros = 1_000_000_000_000 * MICRO;
  readonly #start = this.#micros;
  #wallAhead = 0;
  #heap: Pending[] = [];
  #count = 0;
  #hash = 0x811c9dc5;
  #hash2 = 0x1b873593;

  constructor(seed: number, verbose = false) {
    this.seed = seed;
    this.random = prng(seed);
    this.log = verbose ? [] : undefined;
  }

  /** Milliseconds that never go back. */
  now(): number {
    return Math.floor(this.#micros / MICRO);
  }

  /** What a clock on the wall shows, which people set. */
  wall(): number {
    return this.now() + this.#wallAhead;
  }

  setClock(byMs: number): void {
    this.#wallAhead += byMs;
    this.note(`the wall clock moves by ${byMs} ms`);
  }

  /** Milliseconds since the beginning, for people. */
  get elapsed(): number {
    return (this.#micros - this.#start) / MICRO;
  }

  get pending(): number {
    return this.#heap.length;
  }

  /** Lets `run` happen after `ms` milliseconds. Of what is due at the same instant, what was asked for first comes first. */
  after(ms: number, name: string, run: () => void): Pending {
    const event = { at: this.#micros + Math.max(0, Math.round(ms * MICRO)), order: this.#count++, name, run };
    push(this.#heap, event);
    return event;
  }

  /** As `after`, but never before what was put on the same lane earlier. */
  inOrder(lane: Lane, ms: number, name: string, run: () => void): Pending {
    const at = Math.max(this.#micros + Math.round(ms * MICRO), lane.last + 1);
    lane.last = at;
    const event = { at, order: this.#count++, name, run };
    push(this.#heap, event);
    return event;
  }

  cancel(event: Pending): void {
    event.run = undefined;
  }

  /** Notes something that happened; two runs of one seed must note the same. */
  note(text: string): void {
    const line = `${this.#micros - this.#start} ${text}`;
    this.#hash = hashText(this.#hash, line);
    this.#hash2 = hashText(this.#hash2 ^ this.#hash, text);
    this.log?.push(line);
  }

  get traceHash(): string {
    const hex = (value: number) => (value >>> 0).toString(16).padStart(8, "0");
    return hex(this.#hash) + hex(this.#hash2);
  }

  violate(rule: Rule, what: string): void {
    this.violations.push({ rule, what, at: this.elapsed });
    this.note(`VIOLATION ${rule}: ${what}`);
  }

  /** Runs one event and all that follows from it in the same turn. False when there is none before `until`. */
  async step(until = Number.POSITIVE_INFINITY): Promise<boolean> {
    let event = this.#heap[0];
    while (event !== undefined && event.run === undefined) {
      pop(this.#heap);
      event = this.#heap[0];
    }
    if (event === undefined || event.at > this.#start + until * MICRO) return false;
    pop(this.#heap);
    this.#micros = Math.max(this.#micros, event.at);
    this.events++;
    this.note(event.name);
    event.run?.();
    event.run = undefined;
    await turn();
    for (const check of this.checks) check();
    return true;
  }

  /** Runs events until `done` holds, none is left, or the clock would pass `until` milliseconds since the beginning. */
  async run(until: number, done: () => boolean = () => false, maxEvents = 200_000): Promise<void> {
    await turn();
    for (let count = 0; !done(); count++) {
      if (count > maxEvents) return this.violate("liveness", `more than ${maxEvents} events`);
      if (await this.step(until)) continue;
      // What has no more events may still have promises to settle, and these may lead to events.
      await turn();
      if (done() || !(await this.step(until))) return;
    }
  }
}

/** All promise jobs are done when the host gives the next turn; nothing else of the host is in use. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function before(a: Pending, b: Pending): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Pending[], event: Pending): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !before(event, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = event;
}

function pop(heap: Pending[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    let least = heap[child];
    if (least === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && before(right, least)) {
      child++;
      least = right;
    }
    if (!before(least, last)) break;
    heap[at] = least;
    at = child;
  }
  heap[at] = last;
}
