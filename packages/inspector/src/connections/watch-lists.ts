import type { Client } from "@parley/mcp";
import { hasCapability } from "@parley/mcp/protocol";
import type { OfferKind } from "../contract/connections.js";

/** The lists affected by each kind of change. */
const CHANGED = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "templates"],
  resource: [],
} as const;

/**
 * Calls `changed` for each list that the server announces as changed, and for lists that may have changed during a
 * connection loss. Calls `problem` if the subscription fails. Ignores lists for which the server does not declare
 * `listChanged`.
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
