import { lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";

/**
 * Removes the file of a Unix socket on which nobody listens any more: a server that was killed leaves it behind, and
 * nobody else could listen there. Anything that is no socket, or that answers, stays.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  if (process.platform === "win32" || !isSocket(path)) return;
  const refused = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
  if (refused) rmSync(path, { force: true });
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}
