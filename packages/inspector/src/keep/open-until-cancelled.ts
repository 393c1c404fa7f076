import type { Client, ClientOptions } from "@parley/mcp";
import type { KeptConnection } from "./kept-connection.js";

/**
 * Opens a further client of a connection. Rejects with the reason of the signal as soon as it aborts, also where the target does
 * not heed it: a module that is still loading. A client that comes too late is closed.
 */
export async function openUntilCancelled(
  connection: Pick<KeptConnection, "openAnother">,
  options: ClientOptions,
  signal: AbortSignal,
): Promise<Client> {
  signal.throwIfAborted();
  const opening = connection.openAnother({ ...options, signal });
  return new Promise((resolve, reject) => {
    const cancelled = () => {
      reject(signal.reason);
      opening.then((client) => client.close()).catch(() => undefined);
    };
    signal.addEventListener("abort", cancelled, { once: true });
    const heed = () => signal.removeEventListener("abort", cancelled);
    opening.then(resolve, reject).finally(heed);
  });
}
