import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { orphansOf } from "../../chaos/orphans.js";
import { atMost, exactly, type Lane, type LaneResult, scaled, told } from "../lane.js";
import { MEGABYTE, type Memory } from "../memory.js";
import { type Program, startProgram } from "../program.js";
import type { StruckHostResult, StruckHostSettings } from "../programs/struck-host.js";
import { waitFor } from "../wait-for.js";

const EACH = 3;
const KINDS = 3;
const CALLERS = 2;
/** Through the host, and through its gateway in memory and over HTTP, in both eras. */
const WAYS = 5;
/** Memory is looked at after each of these, with everything ready and nobody calling. */
const PARTS = 10;
const SAY_MS = 10_000;
/** More than connections that nobody uses are kept for. */
const KEPT_MS = 15_000;

export const host: Lane = {
  name: "host",
  what: "1,000 restarts of 9 servers of one host, killed or cut off while callers call through the host and its gateway",
  async run({ scale, bundle, say }) {
    const restarts = scaled(1000, scale);
    const folder = mkdtempSync(join(tmpdir(), "parley-soak-host-"));
    const server = await bundle(new URL("../programs/struck-server.ts", import.meta.url));
    const file = await bundle(new URL("../programs/struck-host.ts", import.meta.url));
    const settings: StruckHostSettings = { folder, server, each: EACH, callers: CALLERS };
    const program = await startProgram<object>(file, settings, { sourceMaps: false });
    const telling = setInterval(() => void program.ask("restarts").then((count) => say(`restarts ${count}`)), SAY_MS);
    try {
      return await strike(program, restarts);
    } finally {
      clearInterval(telling);
      await program.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function strike(program: Program<object>, restarts: number): Promise<LaneResult> {
  const heaps: number[] = [];
  let filesBefore = 0;
  for (let part = 1; part <= PARTS; part++) {
    await program.ask("strikeUntil", Math.ceil((restarts * part) / PARTS));
    heaps.push((await program.ask<Memory>("memory")).heap / MEGABYTE);
    if (part === 1) filesBefore = await program.ask<number>("fileDescriptors");
  }
  const [first = 0] = heaps;
  const stayed = await stayedFiles(program, filesBefore);
  const warnings = await program.ask<string[]>("warnings");
  const result = await program.ask<StruckHostResult>("close");
  const { counts, recovered, strays, pids } = result;
  const orphans = await orphansOf(pids);
  return {
    size: { restarts: result.restarts, servers: EACH * KINDS, callers: CALLERS * WAYS, "calls made": counts.made },
    measures: [
      { ...told("count", "restarts", result.restarts, ""), bar: `≥ ${restarts}`, passed: result.restarts >= restarts },
      exactly("calls lost: no outcome, or an answer of a call that never ran", counts.lost, 0),
      exactly("calls duplicated: answered twice, mixed up, or run more often than they may", counts.duplicated, 0),
      exactly("answers that belong to no call", strays, 0),
      exactly("processes left, by id and by group", orphans.length, 0),
      exactly("warnings of the runtime", warnings.length, 0),
      atMost("count", "file descriptors that stayed", stayed, EACH * KINDS, ""),
      atMost("memory", "heap growth after the first tenth", (heaps.at(-1) ?? Number.NaN) - first, 5, "MB"),
      told("count", "calls answered", counts.answered, ""),
      ...Object.entries(counts.refused).map(([kind, count]) => told("count", `calls refused: ${kind}`, count, "")),
      told("count", "calls that change nothing, run twice because the first was lost", counts.repeated, ""),
      told("count", "processes started", new Set(pids).size, ""),
      ...recovered.map(([name, count]) => told("count", `next answer ${name} after the blow`, count, "")),
    ],
    notes: [
      "The host restarts without a limit and after 20 to 200 ms; by default it waits for 1 s to 30 s and holds a server that ends more than 5 times in a minute.",
      "A third of the servers each: processes on pipes (SIGKILL; one of them has a process of its own), servers of the same process behind a port (closed), HTTP servers with sessions (sockets cut, sessions forgotten).",
      `The heap after each tenth: ${heaps.map((heap) => heap.toFixed(1)).join(", ")} MB.`,
      ...warnings.slice(0, 3),
    ],
  };
}

/** How many more file descriptors are open than before, when those of kept connections had the time to close. */
async function stayedFiles(program: Program<object>, before: number): Promise<number> {
  let stayed = 0;
  const isClosed = async () => {
    stayed = Math.max(0, (await program.ask<number>("fileDescriptors")) - before);
    return stayed <= EACH * KINDS;
  };
  await waitFor(isClosed, KEPT_MS, 250);
  return stayed;
}
