import type { Client } from "@parley/mcp";
import { UsageError } from "../terminal/usage-error.js";

/**
 * Calls `renew` now and whenever the server says that one of its lists has changed, until `signal` is aborted or the server ends
 * the subscription. Changes that come while it runs are one change. Throws a `UsageError` for servers that never say so.
 */
export async function watchLists(client: Client, signal: AbortSignal, renew: () => Promise<unknown>): Promise<void> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const wanted = {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resources: resources?.listChanged === true,
  };
  if (!Object.values(wanted).includes(true)) {
    throw new UsageError(
      "the server does not say when its lists change",
      "Leave --watch away, and run `parley types` again after a change.",
    );
  }
  // Before the lists are read, so that no change is missed between the two.
  await using subscription = await client.subscribe(wanted, { signal });
  const end = () => void subscription.close();
  signal.addEventListener("abort", end, { once: true });
  try {
    await renew();
    for await (const _change of subscription) await renew();
  } finally {
    signal.removeEventListener("abort", end);
  }
}
