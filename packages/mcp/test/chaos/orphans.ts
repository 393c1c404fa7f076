import { readdirSync, readFileSync } from "node:fs";

/** What a process that was told to end has for that. */
const END_MS = 5_000;
const LOOK_MS = 50;

/** Those of the processes that still run, and any process of a group that one of them leads, after a while to end. */
export async function orphansOf(pids: readonly number[]): Promise<number[]> {
  const until = performance.now() + END_MS;
  for (;;) {
    const left = runningOf(new Set(pids));
    if (left.length === 0 || performance.now() >= until) return left;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function runningOf(pids: ReadonlySet<number>): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const { state, group } = facts(pid);
      // A zombie has ended; only its parent has not looked.
      return state !== undefined && state !== "Z" && (pids.has(pid) || pids.has(group ?? -1));
    });
}

function facts(pid: number): { state?: string | undefined; group?: number | undefined } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it may hold spaces and brackets.
    const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state, group: Number(group) };
  } catch {
    return {};
  }
}
