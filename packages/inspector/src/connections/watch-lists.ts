import type { Client } from "@parley/mcp";
import { hasCapability } from "@parley/mcp/protocol";
import type { OfferKind } from "../contract/connections.js";

const NOTIFIED = [
  ["notifications/tools/list_changed", ["tools"]],
  ["notifications/prompts/list_changed", ["prompts"]],
  ["notifications/resources/list_changed", ["resources", "templates"]],
] as const;

/** The lists that a change of each kind is about. */
const CHANGED = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "templates"],
  resource: [],
} as const;

/**
 * Tells which lists of a server change. Asks the server to announce it, where its revision wants that; what may have been missed while
 * the connection was lost counts as changed. `problem` is told why nothing more will be announced.
 */
export function watchLists(
  client: Client,
  changed: (kind: OfferKind) => void,
  problem: (error: unknown) => void,
): void {
  for (const [method, kinds] of NOTIFIED) {
    client.on(method, () => {
      for (const kind of kinds) changed(kind);
    });
  }
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
  for await (const { kind, missed } of await client.subscribe(wanted)) {
    // What the server announces is heard already.
    if (missed) for (const list of CHANGED[kind]) changed(list);
  }
}
