import type { EraName } from "../../src/protocol/revisions.js";
import { runCell } from "../scenarios/run-cell.js";
import { exclusion, type Scenario } from "../scenarios/scenario.js";
import type { TransportUnderTest } from "../scenarios/transports/transport-under-test.js";

/** What came of one scenario over one transport in one era. */
export interface CellOutcome {
  readonly file: string;
  readonly transport: string;
  readonly era: EraName;
  /** Why it does not hold; absent when it does. */
  readonly trouble?: string;
}

export type Cases = Readonly<Record<string, Scenario<never>>>;

const ERAS = ["stateful", "stateless"] as const;
const CELL_MS = 30_000;

/** Runs cases over transports in both eras, a few at a time; needs nothing but web standards. */
export async function runCells(
  cases: Cases,
  transports: readonly TransportUnderTest[],
  atOnce: number,
): Promise<CellOutcome[]> {
  const waiting = Object.entries(cases).flatMap(([file, one]) =>
    transports.flatMap((transport) =>
      ERAS.filter((era) => exclusion(one, transport.name, era) === undefined).map((era) => ({
        file,
        one,
        transport,
        era,
      })),
    ),
  );
  const outcomes: CellOutcome[] = [];
  const lane = async () => {
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
      const { file, one, transport, era } = cell;
      const trouble = await troubleOf(runCell(transport, era, file, one));
      outcomes.push({ file, transport: transport.name, era, ...(trouble === undefined ? {} : { trouble }) });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return outcomes;
}

async function troubleOf(work: Promise<void>): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came of it within ${CELL_MS} ms`)), CELL_MS);
  });
  try {
    await Promise.race([work, late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.stack ?? error.message}` : String(error);
  } finally {
    clearTimeout(timer);
  }
}
