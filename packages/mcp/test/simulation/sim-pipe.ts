import type { ByteStream, ByteStreamEvents } from "../../src/transport/channel/stream-channel.js";
import type { Prng } from "./prng.js";
import type { SimProcess } from "./sim-process.js";
import type { Lane, World } from "./world.js";

/** How bad a network is. */
export interface Weather {
  /** Milliseconds that every delivery takes at least, and how many more at most. */
  latency: number;
  jitter: number;
  /** How often a write arrives in several pieces. */
  split: number;
  /** How often a piece takes `stallMs` longer. */
  stall: number;
  stallMs: number;
  /** Bytes that may be under way before a writer is told to wait. */
  window: number;
}

/** Sees what is written at one end, as it is written. */
export type PipeTap = (text: string) => void;

const encoder = new TextEncoder();

/** A duplex stream of bytes between two processes that can be cut, go silent, or be slow. */
export class SimPipe {
  readonly near: PipeEnd;
  readonly far: PipeEnd;
  readonly #world: World;

  constructor(world: World, name: string, near: SimProcess, far: SimProcess, weather: Weather, random: Prng) {
    this.#world = world;
    this.near = new PipeEnd(world, `${name}<`, near, weather, random);
    this.far = new PipeEnd(world, `${name}>`, far, weather, random);
    this.near.join(this.far);
    this.far.join(this.near);
    far.onKill(() => this.near.broken());
    near.onKill(() => this.far.broken());
  }

  get open(): boolean {
    return !this.near.isClosed || !this.far.isClosed;
  }

  /** Breaks the connection; each end learns of it in its own time, what was under way is lost. */
  cut(): void {
    this.#world.note("cut");
    this.near.broken();
    this.far.broken();
  }

  /** From now on nothing arrives at either end, and neither is told. */
  silence(): void {
    this.#world.note("silence");
    this.near.deaf = true;
    this.far.deaf = true;
  }
}

/** One end of a pipe. */
export class PipeEnd implements ByteStream {
  tap: PipeTap | undefined;
  /** Told when this end's owner has heard of the end. */
  onClosed: (() => void) | undefined;
  /** What arrives here is lost. */
  deaf = false;
  readonly #world: World;
  readonly #name: string;
  readonly #process: SimProcess;
  readonly #weather: Weather;
  readonly #random: Prng;
  readonly #toOther: Lane = { last: 0 };
  readonly #toSelf: Lane = { last: 0 };
  #other: PipeEnd | undefined;
  #events: ByteStreamEvents | undefined;
  #arrived: Uint8Array[] = [];
  #paused = false;
  /** Bytes that this end wrote and the other has not taken. */
  #underWay = 0;
  #congested = false;
  #outputEnded = false;
  #inputEnds = false;
  #inputEnded = false;
  #failure: { error: Error | undefined } | undefined;
  #closed = false;
  #breaking = false;

  constructor(world: World, name: string, process: SimProcess, weather: Weather, random: Prng) {
    this.#world = world;
    this.#name = name;
    this.#process = process;
    this.#weather = weather;
    this.#random = random;
  }

  join(other: PipeEnd): void {
    this.#other = other;
  }

  get isClosed(): boolean {
    return this.#closed || !this.#process.alive;
  }

  get congested(): boolean {
    return this.#congested;
  }

  open(events: ByteStreamEvents): void {
    this.#events = events;
    this.#soon("open", () => (this.#closed ? this.#tell() : this.#pump()));
  }

  write(text: string): boolean {
    if (this.#closed || this.#outputEnded || !this.#process.alive) return true;
    this.tap?.(text);
    this.#world.log?.push(`    ${this.#name} writes ${text.trimEnd()}`);
    const bytes = encoder.encode(text);
    this.#underWay += bytes.length;
    for (const piece of this.#pieces(bytes)) this.#send(piece);
    this.#congested ||= this.#underWay > this.#weather.window;
    return !this.#congested;
  }

  end(): void {
    if (this.#outputEnded || this.#closed) return;
    this.#outputEnded = true;
    this.#world.inOrder(this.#toOther, this.#delay(), `${this.#name} eof`, () => this.#other?.eof());
    this.resume();
    this.#maybeClose();
  }

  destroy(): void {
    if (this.#closed) return;
    this.#failure ??= { error: undefined };
    this.#arrived = [];
    this.#breaking = true;
    this.#soon("destroyed", () => this.#close());
    this.#other?.broken();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#soon("resumed", () => this.#pump());
  }

  /** The connection broke; this end hears of it after a while. */
  broken(): void {
    if (this.#closed || this.#breaking) return;
    this.#breaking = true;
    this.#world.after(this.#delay(), `${this.#name} broken`, () => {
      this.#failure ??= { error: Object.assign(new Error("the simulated connection broke"), { code: "ECONNRESET" }) };
      this.#arrived = [];
      this.#process.reach(() => this.#close());
    });
  }

  eof(): void {
    if (this.deaf || this.#closed || this.#breaking) return;
    this.#inputEnds = true;
    this.#process.reach(() => this.#pump());
  }

  arrive(piece: Uint8Array): void {
    if (this.deaf || this.#closed || this.#breaking) return;
    this.#arrived.push(piece);
    this.#process.reach(() => this.#pump());
  }

  taken(count: number): void {
    this.#underWay -= count;
    if (!this.#congested || this.#underWay > this.#weather.window / 2) return;
    this.#congested = false;
    this.#soon("drained", () => {
      if (!this.#closed) this.#events?.drained();
    });
  }

  #send(piece: Uint8Array): void {
    const name = `${this.#name} ${piece.length} bytes`;
    this.#world.inOrder(this.#toOther, this.#delay(), name, () => this.#other?.arrive(piece));
  }

  #pieces(bytes: Uint8Array): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let rest = bytes;
    while (rest.length > 1 && pieces.length < 8 && this.#random.chance(this.#weather.split)) {
      const size = this.#random.chance(0.3) ? 1 : this.#random.int(1, rest.length - 1);
      pieces.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    return [...pieces, rest];
  }

  #delay(): number {
    const { latency, jitter, stall, stallMs } = this.#weather;
    return latency + this.#random.next() * jitter + (this.#random.chance(stall) ? stallMs : 0);
  }

  /** Hands over all that has arrived as one chunk, so that pieces are merged as well as split. */
  #pump(): void {
    if (this.#paused || this.#closed || this.#events === undefined || !this.#process.alive) return;
    if (this.#arrived.length > 0) {
      const chunk = Buffer.concat(this.#arrived);
      this.#arrived = [];
      this.#other?.taken(chunk.length);
      this.#events.data(chunk);
    }
    // The callee may have paused, or closed, while it took the chunk.
    if (this.#paused || this.#closed || !this.#inputEnds || this.#inputEnded || this.#arrived.length > 0) return;
    this.#inputEnded = true;
    this.#events.inputEnded();
    this.#maybeClose();
  }

  #maybeClose(): void {
    if (this.#outputEnded && this.#inputEnded) this.#soon("closed", () => this.#close());
  }

  #close(): void {
    if (this.#closed || !this.#process.alive) return;
    this.#closed = true;
    if (this.#events !== undefined) this.#tell();
  }

  #tell(): void {
    this.#events?.closed(this.#failure?.error);
    this.onClosed?.();
  }

  #soon(name: string, run: () => void): void {
    this.#world.inOrder(this.#toSelf, 0, `${this.#name} ${name}`, () => this.#process.reach(run));
  }
}
