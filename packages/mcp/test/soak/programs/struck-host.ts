// A host whose servers are struck down while callers call; in a process of its own, so that its memory is its own.
import { readdirSync } from "node:fs";
import { ChaosRun } from "../../chaos/chaos-run.js";
import type { CallCounts } from "../../chaos/ledger.js";
import { seededRandom } from "../seeded-random.js";
import { answerCommands, settingsOf } from "./answer-commands.js";

/** What the lane gives. */
export interface StruckHostSettings {
  readonly folder: string;
  readonly server: string;
  readonly each: number;
  readonly callers: number;
}

/** What the lane is told at the end. */
export interface StruckHostResult {
  readonly strikes: number;
  readonly restarts: number;
  readonly counts: CallCounts;
  readonly strays: number;
  readonly recovered: [name: string, count: number][];
  readonly pids: number[];
}

const REST_MS = 5;
const STRIKE_MS = 60;

const { folder, server, each, callers } = settingsOf<StruckHostSettings>();
const random = seededRandom(14);
const run = await ChaosRun.start({ folder, program: [server], each, callers, restMs: REST_MS, random });

answerCommands(
  {},
  {
    restarts: () => run.restarts,
    fileDescriptors: () => readdirSync("/proc/self/fd").length,
    /** Strikes until there were so many restarts, then rests. */
    async strikeUntil(restarts: number) {
      run.call();
      while (run.restarts < restarts) {
        run.strike();
        await new Promise((resolve) => setTimeout(resolve, STRIKE_MS));
      }
      await run.rest();
      await run.recovered();
    },
    async close(): Promise<StruckHostResult> {
      await run.close();
      const { strikes, restarts, strays } = run;
      return {
        strikes,
        restarts,
        strays,
        counts: run.ledger.counts(),
        recovered: run.times.classes(),
        pids: run.pids(),
      };
    },
  },
);
