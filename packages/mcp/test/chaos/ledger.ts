import { existsSync, readFileSync } from "node:fs";

/** What became of the calls of a run. */
export interface CallCounts {
  readonly made: number;
  readonly answered: number;
  /** How many calls were refused or failed, by the kind of their error. */
  readonly refused: Readonly<Record<string, number>>;
  /** Calls that nothing became of, that were left to a deadline, or that were answered and never ran. */
  readonly lost: number;
  /** Calls that were answered twice or with the answer of another call, or ran more often than they may. */
  readonly duplicated: number;
  /** Calls that may be repeated and were. */
  readonly repeated: number;
}

/** Calls of one run; bounds the memory of the ledger. */
export const MOST_CALLS = 2_000_000;
/** A call that may be repeated is sent once more at most. */
const MOST_RUNS = 2;

const PENDING = 1;
const ENDED = 2;
const ANSWERED = 4;
const REPEATABLE = 8;

/** One entry for each call, and what the servers wrote down beside it. It lies outside of the heap, whose growth is measured. */
export class Ledger {
  readonly #runs: string;
  readonly #calls = new Uint8Array(MOST_CALLS);
  readonly #refused = new Map<string, number>();
  #made = 0;
  #answered = 0;
  #unanswered = 0;
  #wrong = 0;

  /** `runs` is the file in which the servers write the ids of the calls that they run. */
  constructor(runs: string) {
    this.#runs = runs;
  }

  get isFull(): boolean {
    return this.#made >= MOST_CALLS;
  }

  get made(): number {
    return this.#made;
  }

  get answered(): number {
    return this.#answered;
  }

  get refused(): number {
    return [...this.#refused.values()].reduce((sum, count) => sum + count, 0);
  }

  get pending(): number {
    return this.#made - this.#answered - this.refused - this.#unanswered;
  }

  /** Notes a new call and gives its id. */
  begin(repeatable: boolean): number {
    const id = this.#made++;
    this.#calls[id] = PENDING | (repeatable ? REPEATABLE : 0);
    return id;
  }

  answer(id: number, isRight: boolean): void {
    this.#end(id, ANSWERED);
    this.#answered++;
    if (!isRight) this.#wrong++;
  }

  refuse(id: number, kind: string): void {
    this.#end(id, 0);
    this.#refused.set(kind, (this.#refused.get(kind) ?? 0) + 1);
  }

  /** Nobody said what became of the call, and its caller gave up. */
  giveUp(id: number): void {
    this.#end(id, 0);
    this.#unanswered++;
  }

  /** Compares what callers were told with what the servers ran. */
  counts(): CallCounts {
    const runs = this.#countRuns();
    const problems = { lost: this.#unanswered, duplicated: this.#wrong, repeated: 0 };
    for (let id = 0; id < this.#made; id++) {
      const call = this.#calls[id] ?? 0;
      const ran = runs[id] ?? 0;
      if ((call & ENDED) === 0 || ((call & ANSWERED) !== 0 && ran === 0)) problems.lost++;
      if (ran > ((call & REPEATABLE) === 0 ? 1 : MOST_RUNS)) problems.duplicated++;
      else if (ran > 1) problems.repeated++;
    }
    const refused = Object.fromEntries([...this.#refused].sort(([a], [b]) => a.localeCompare(b)));
    return { made: this.#made, answered: this.#answered, refused, ...problems };
  }

  #end(id: number, flags: number): void {
    const call = this.#calls[id] ?? 0;
    if ((call & ENDED) !== 0) this.#wrong++;
    this.#calls[id] = call | ENDED | flags;
  }

  #countRuns(): Uint8Array {
    const runs = new Uint8Array(this.#made);
    const lines = existsSync(this.#runs) ? readFileSync(this.#runs, "utf8").split("\n") : [];
    for (const line of lines) {
      const id = line === "" ? -1 : Number(line);
      // Beyond what is allowed, how often it ran does not matter.
      if (runs[id] !== undefined && runs[id] < 255) runs[id]++;
    }
    return runs;
  }
}
