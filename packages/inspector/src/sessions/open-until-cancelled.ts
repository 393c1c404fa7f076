import type { Client, ClientOptions } from "@parley/mcp";
import type { SessionConnection } from "./session-connection.js";

/**
 * Opens another client for a connection. Rejects with the reason of the signal as soon as the signal aborts, because a
 * target may ignore the signal, for example while its module is loading. Closes a client that opens after the abort.
 */
export async function openUntilCancelled(
  connection: Pick<SessionConnection, "openAnother">,
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
    const stopListening = () => signal.removeEventListener("abort", cancelled);
    opening.then(resolve, reject).finally(stopListening);
  });
}
