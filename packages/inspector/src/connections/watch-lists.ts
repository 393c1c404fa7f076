import type { Client } from "@parley/mcp";
import { hasCapability } from "@parley/mcp/protocol";
import type { OfferKind } from "../contract/connections.js";

/** The lists that a change of each kind is about. */
const CHANGED = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "templates"],
  resource: [],
} as const;

/**
 * Calls `changed` for lists that the server announces as changed, at the pace of the client's subscriptions; a list that may have
 * changed while the connection was lost counts as changed. `problem` gets the reason why nothing more will be announced. Lists
 * whose changes the server does not declare are not watched.
 */
export function watchLists(
  client: Client,
  changed: (kind: OfferKind) => void,
  problem: (error: unknown) => void,
): void {
  const offered = (list: "tools" | "prompts" | "resources") =>
    hasCapability(client.serverCapabilities, `${list}.listChanged`);
  const wanted = { tools: offered("tools"), prompts: offered("prompts"), resources: offered("resources") };
  if (!Object.values(wanted).includes(true)) return;
  follow(client, wanted, changed).catch((error: unknown) => {
    if (client.state === "ready") problem(error);
  });
}

async function follow(
  client: Client,
  wanted: Parameters<Client["subscribe"]>[0],
  changed: (kind: OfferKind) => void,
): Promise<void> {
  for await (const { kind } of await client.subscribe(wanted)) for (const list of CHANGED[kind]) changed(list);
}
