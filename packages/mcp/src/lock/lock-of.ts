import type { Client } from "../client/client.js";
import type { ClientMiddleware } from "../client/contract/middleware.js";
import { McpError } from "../protocol/error.js";
import { pinDefinition } from "./pin-definition.js";
import type { PinnedItem, PinnedKind, ServerLock } from "./server-lock.js";

/** What a lock needs of a client, whatever tools it is typed for. */
export interface LockableClient
  extends Pick<
    Client,
    | "serverInfo"
    | "instructions"
    | "serverCapabilities"
    | "tools"
    | "prompts"
    | "resourceTemplates"
    | "subscribe"
    | "on"
  > {
  use(...middleware: ClientMiddleware[]): unknown;
}

/**
 * Pins what a server offers now: its name and instructions, its tools, prompts and resource templates. Lists all of them anew.
 * A client with an enforced lock lists only what that lock lets pass.
 */
export async function lockOf(client: LockableClient): Promise<ServerLock> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const anew = { cache: false };
  return {
    server: pinServer(client),
    tools: await pinAll("tool", tools && client.tools(anew), ({ name }) => name),
    prompts: await pinAll("prompt", prompts && client.prompts(anew), ({ name }) => name),
    resourceTemplates: await pinAll(
      "resourceTemplate",
      resources && client.resourceTemplates(anew),
      ({ uriTemplate }) => uriTemplate,
    ),
  };
}

/** Pins what a server says of itself. */
export function pinServer({ serverInfo, instructions }: LockableClient): PinnedItem {
  return pinDefinition("server", { name: serverInfo?.name, instructions });
}

async function pinAll<T extends object>(
  kind: PinnedKind,
  list: AsyncIterable<T> | undefined,
  keyOf: (item: T) => string,
): Promise<Record<string, PinnedItem>> {
  const pinned = new Map<string, PinnedItem>();
  try {
    // Safe: members are looked up by name, and none is assumed to be there.
    for await (const item of list ?? []) pinned.set(keyOf(item), pinDefinition(kind, item as Record<string, unknown>));
  } catch (error) {
    // Many servers declare resources or prompts and refuse to list some of them.
    const { kind: failure, remote } = McpError.from(error);
    if (kind === "tool" || !remote || failure !== "method_not_found") throw error;
  }
  return Object.fromEntries([...pinned].sort(([one], [other]) => (one < other ? -1 : 1)));
}
