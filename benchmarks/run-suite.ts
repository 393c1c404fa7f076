import { loadavg } from "node:os";
import type { Bench, Contender, Effort, Figures, Suite } from "./contender.js";

/** What a suite gave: for each contender one set of figures per round, in the order of the rounds. */
export interface SuiteResult {
  readonly suite: string;
  /** Load of the machine when the suite began, over one minute. */
  readonly load: number;
  readonly samples: ReadonlyMap<string, readonly Figures[]>;
  /** Why a contender has no figures. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Measures all contenders of a suite in turn, round after round, so that what disturbs the machine disturbs them all alike. */
export async function runSuite(suite: Suite, effort: Effort): Promise<SuiteResult> {
  const load = loadavg()[0] ?? 0;
  const failures = new Map<string, string>();
  const samples = new Map<string, Figures[]>();
  const benches: [Contender, Bench][] = [];
  for (const contender of suite.contenders) {
    try {
      benches.push([contender, await suite.measure(contender, effort)]);
      samples.set(contender.id, []);
    } catch (error) {
      failures.set(contender.id, messageOf(error));
    }
  }
  try {
    const rounds = suite.rounds?.(effort) ?? effort.rounds;
    for (let round = suite.warmUp ? -1 : 0; round < rounds; round++) {
      for (const [contender, bench] of rotated(benches, Math.max(0, round))) {
        if (failures.has(contender.id)) continue;
        try {
          const figures = await inTime(bench.round());
          if (round >= 0) samples.get(contender.id)?.push(figures);
        } catch (error) {
          failures.set(contender.id, messageOf(error));
        }
      }
      process.stdout.write(".");
    }
  } finally {
    for (const [, bench] of benches) await bench.close();
  }
  process.stdout.write("\n");
  return { suite: suite.id, load, samples, failures };
}

/** The longest that a round may take; the slowest, ten thousand handshakes, take a tenth of it. */
const PATIENCE_MS = 300_000;

/** A contender that hangs must not stop the run. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the round did not end")), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Each round begins with another contender, so that nobody always runs after the same one. */
function rotated<T>(items: readonly T[], by: number): T[] {
  const at = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
