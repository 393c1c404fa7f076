import type { Client } from "@parley/mcp";
import { McpError, type Prompt, type ResourceTemplate, type Tool } from "@parley/mcp/protocol";

/** The offers of a server: tools and prompts sorted by name, templates by URI template. */
export interface ServerOffers {
  /** The name of the server, used only in comments. */
  readonly server: string;
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly templates: readonly ResourceTemplate[];
}

/**
 * Maximum number of entries per list. `readOffers` rejects longer lists, because a module of that size would be
 * unusable.
 */
const MAX_OFFERS = 5_000;

/** Reads every list that the server declares. */
export async function readOffers(client: Client, signal: AbortSignal): Promise<ServerOffers> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const options = { signal, cache: false };
  return {
    server: client.serverInfo?.name ?? "",
    tools: tools === undefined ? [] : await sorted("tools", client.tools(options), ({ name }) => name),
    prompts: prompts === undefined ? [] : await sorted("prompts", client.prompts(options), ({ name }) => name),
    templates:
      resources === undefined
        ? []
        : await sorted("resource templates", client.resourceTemplates(options), ({ uriTemplate }) => uriTemplate).catch(
            ignoreMissingMethod,
          ),
  };
}

/**
 * Returns no templates for a server that has resources but does not implement `resources/templates/list`. Rethrows
 * other errors.
 */
function ignoreMissingMethod(reason: unknown): [] {
  if (McpError.is(reason) && reason.kind === "method_not_found") return [];
  throw reason;
}

async function sorted<T>(what: string, list: AsyncIterable<T>, key: (one: T) => string): Promise<T[]> {
  const found = new Map<string, T>();
  for await (const one of list) {
    if (!found.has(key(one))) found.set(key(one), one);
    if (found.size > MAX_OFFERS) {
      throw new McpError("limit_exceeded", `the server has more than ${MAX_OFFERS} ${what}`, {
        fix: "Check that the server's list ends, or put a gateway in front of it that filters.",
      });
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
