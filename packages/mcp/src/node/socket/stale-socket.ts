import { builtin } from "../builtin.js";

/**
 * Removes the file of a Unix socket on which nobody listens any more: a server that was killed leaves it behind, and
 * nobody else could listen there. Anything that is no socket, or that answers, stays.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  if (process.platform === "win32" || !isSocket(path)) return;
  const refused = await new Promise<boolean>((resolve) => {
    const probe = builtin("node:net").connect(path, () => {
      probe.destroy();
      resolve(false);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
  if (refused) builtin("node:fs").rmSync(path, { force: true });
}

function isSocket(path: string): boolean {
  try {
    return builtin("node:fs").lstatSync(path).isSocket();
  } catch {
    return false;
  }
}
