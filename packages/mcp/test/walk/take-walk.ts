import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { WALK_LANES, WALK_REVISIONS, type WalkLane, type WalkRevision } from "./bounds.js";
import { instrument } from "./instrument.js";
import type { Told } from "./program.js";
import { toWalk, type Walk } from "./trace.js";

const root = resolve(import.meta.dirname, "../../../..");
const sources = join(root, "packages/mcp/src");

/** A build for Node has its own files in the place of these names. */
const alias = {
  "#platform": join(import.meta.dirname, "platform.ts"),
  "#transports": join(sources, "node/entry/transports.ts"),
};

/** The walks of one call of each of the lanes and revisions, taken from an instrumented copy of the sources. */
export async function takeWalks(
  lanes: readonly WalkLane[] = WALK_LANES,
  revisions: readonly WalkRevision[] = WALK_REVISIONS,
): Promise<Walk[]> {
  const folder = join(root, "node_modules/.cache/parley");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, `walk-${process.pid}.mjs`);
  writeFileSync(program, await instrumentedProgram());
  try {
    const walks = await Promise.all(revisions.map((revision) => takeLanes(program, revision, lanes)));
    return lanes.flatMap((lane) => walks.flat().filter((walk) => walk.lane === lane));
  } finally {
    rmSync(program);
  }
}

async function instrumentedProgram(): Promise<string> {
  const build = await rolldown({
    input: join(import.meta.dirname, "program.ts"),
    platform: "node",
    tsconfig: false,
    resolve: { alias },
    external: (id) => !/^[./#]/.test(id) && !/^[a-z]:/i.test(id),
    plugins: [
      {
        name: "instrument",
        transform(code, id) {
          const path = relative(sources, id).replaceAll("\\", "/");
          return path.startsWith("..") ? null : { code: instrument(path, code), map: null };
        },
      },
    ],
    // Each file is parsed a second time on purpose.
    checks: { pluginTimings: false },
    logLevel: "warn",
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  return output[0].code;
}

async function takeLanes(program: string, revision: WalkRevision, lanes: readonly WalkLane[]): Promise<Walk[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, revision, ...lanes], {
    timeout: 120_000,
    maxBuffer: 256 * 1024 * 1024,
  });
  // The program prints this and nothing else.
  return (JSON.parse(stdout) as Told[]).map((told) => {
    if (told.revision !== revision) throw new Error(`the call was made in ${told.revision}, not in ${revision}`);
    return mostCommon(told.traces.map((events) => toWalk(told.lane, revision, events)));
  });
}

/** Turns of the event loop fall a little differently now and then; the walk is the one that was taken most often. */
function mostCommon(walks: readonly Walk[]): Walk {
  const counts = new Map<string, { walk: Walk; times: number }>();
  for (const walk of walks) {
    const key = JSON.stringify(walk.visits);
    counts.set(key, { walk, times: (counts.get(key)?.times ?? 0) + 1 });
  }
  const [first] = [...counts.values()].toSorted((a, b) => b.times - a.times);
  if (first === undefined) throw new Error("no call was recorded");
  return first.walk;
}
