import { McpError } from "@parley/mcp";
import { atMost, exactly, type Measure, told } from "../../soak/lane.js";

/** The longest time that recovery may take; a time, so a busy machine fails no test. */
const MAX_RECOVERY_MS = 5_000;

/** Counts the calls of one scenario, and measures when each fault was noticed and recovered from. */
export class Outcomes {
  answered = 0;
  wrong = 0;
  readonly refused = new Map<string, number>();
  readonly #unexpected: string[] = [];
  readonly #noticedMs: number[] = [];
  readonly #recoveredMs: number[] = [];
  #faultAt = 0;
  #isNoticed = true;

  /** Makes a call whose answer must be `expected`; an error is counted by its kind. */
  async call(run: () => Promise<unknown>, expected: unknown): Promise<boolean> {
    try {
      if (JSON.stringify(await run()) === JSON.stringify(expected)) this.answered++;
      else this.wrong++;
      return true;
    } catch (error) {
      this.refuse(McpError.is(error) ? error.kind : `not an McpError: ${String(error)}`);
      return false;
    }
  }

  refuse(kind: string): void {
    this.noticed();
    this.refused.set(kind, (this.refused.get(kind) ?? 0) + 1);
  }

  /** Marks the moment at which the fault begins. */
  fault(): void {
    this.#faultAt = performance.now();
    this.#isNoticed = false;
  }

  /** Marks the moment at which something shows the fault; the first one after `fault` counts. */
  noticed(): void {
    if (!this.#isNoticed) this.#noticedMs.push(performance.now() - this.#faultAt);
    this.#isNoticed = true;
  }

  /** Marks the first right answer after the fault. */
  recovered(): void {
    this.#recoveredMs.push(performance.now() - this.#faultAt);
  }

  /** Notes a condition that did not hold. */
  expect(holds: boolean, what: string): void {
    if (!holds) this.#unexpected.push(what);
  }

  /** The measures of every scenario: only the allowed refusals, no wrong answer, and the two times. */
  measures(allowed: readonly string[]): { measures: Measure[]; notes: string[] } {
    const others = [...this.refused].filter(([kind]) => !allowed.includes(kind));
    const refused = [...this.refused.values()].reduce((sum, count) => sum + count, 0);
    const notes = [...this.#unexpected, ...others.map(([kind, count]) => `refused with ${kind}: ${count}`)];
    return {
      measures: [
        told("count", "calls answered", this.answered, ""),
        told("count", `refused (${[...this.refused.keys()].join(", ") || "none"})`, refused, ""),
        exactly("refused with another kind", others.length, 0),
        exactly("wrong answers", this.wrong, 0),
        exactly("conditions that did not hold", this.#unexpected.length, 0),
        exactly("faults without a recovery", Math.max(0, this.#noticedMs.length - this.#recoveredMs.length), 0),
        told("time", "noticed after, median", median(this.#noticedMs), "ms"),
        told("time", "answered again after, median", median(this.#recoveredMs), "ms"),
        atMost("time", "answered again after, longest", Math.max(...this.#recoveredMs), MAX_RECOVERY_MS, "ms"),
      ],
      notes,
    };
  }
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
