import { readFileSync } from "node:fs";

/** True while a process runs. A zombie does not: it has ended, and only its parent has not looked. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return stateOf(pid) !== "Z";
}

/** The state letter of a process where the system has `/proc`. */
export function stateOf(pid: number): string | undefined {
  return statusOf(pid)[0];
}

/** The parent of a process where the system has `/proc`. */
export function parentOf(pid: number): number | undefined {
  const parent = statusOf(pid)[1];
  return parent === undefined ? undefined : Number(parent);
}

function statusOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it may hold spaces and brackets.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

/** Polls until `check` holds; false when it did not within `ms`, which only ends what hangs unless a test says less. */
export async function eventually(check: () => boolean, ms = 30_000): Promise<boolean> {
  const end = Date.now() + ms;
  while (!check()) {
    if (Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}
