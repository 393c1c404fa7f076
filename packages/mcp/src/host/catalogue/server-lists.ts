import type { Client } from "../../client/client.js";
import type { CallOptions } from "../../client/options.js";
import type { Prompt } from "../../protocol/features/prompts.js";
import type { Resource, ResourceTemplate } from "../../protocol/features/resources.js";
import type { Tool } from "../../protocol/features/tools.js";

/** What one server lists. */
export interface ServerLists {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
}

export const NO_LISTS: ServerLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

/** The lists that a change of each kind may concern. */
export const LISTS_OF = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "resourceTemplates"],
} as const satisfies Record<string, readonly (keyof ServerLists)[]>;

/** Fetches lists of a server anew; of what it does not offer, they are empty. */
export async function fetchLists(
  client: Client,
  kinds: readonly (keyof typeof LISTS_OF)[],
  options: CallOptions,
): Promise<Partial<ServerLists>> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const fresh = { ...options, cache: false };
  const all = await Promise.all(
    kinds.map(async (kind): Promise<Partial<ServerLists>> => {
      if (kind === "tools") return { tools: tools === undefined ? [] : await client.allTools(fresh) };
      if (kind === "prompts") return { prompts: prompts === undefined ? [] : await client.allPrompts(fresh) };
      if (resources === undefined) return { resources: [], resourceTemplates: [] };
      const [listed, templates] = await Promise.all([
        client.allResources(fresh),
        // Servers of old revisions may offer resources without this method.
        client.allResourceTemplates(fresh).catch(() => []),
      ]);
      return { resources: listed, resourceTemplates: templates };
    }),
  );
  return Object.assign({}, ...all) as Partial<ServerLists>;
}
