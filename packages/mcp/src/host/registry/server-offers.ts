import { openClient } from "../../client/open-client.js";
import { McpError } from "../../protocol/error.js";
import { endpointOf, type Servable } from "../../transport/servable.js";
import { compileMatcher } from "../../uri-template/match.js";

/** What one server offers. */
export interface ServerOffers {
  readonly name: string;
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  /** URIs. */
  readonly resources: readonly string[];
  /** URI templates. */
  readonly templates: readonly string[];
  /** Why the lists are empty, if the server could not be asked. */
  readonly error?: McpError;
}

/** What to look for: one or more of these, by name or URI. */
export interface OfferQuery {
  tool?: string | undefined;
  prompt?: string | undefined;
  resource?: string | undefined;
}

const TIMEOUT_MS = 5_000;
const NOTHING = { tools: [], prompts: [], resources: [], templates: [] };

/** Asks a server as a client in the same process would: whatever decides its lists decides them here too. */
export async function offersOf(name: string, server: Servable, timeoutMs = TIMEOUT_MS): Promise<ServerOffers> {
  try {
    // Only the endpoint is needed at run time.
    const target = { endpoint: () => endpointOf(server) } as Parameters<typeof openClient>[0];
    const timeouts = { connectMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
    const client = await openClient(target, { timeouts });
    try {
      const { tools, prompts, resources } = client.serverCapabilities;
      const lists = await Promise.all([
        tools === undefined ? [] : client.allTools(),
        prompts === undefined ? [] : client.allPrompts(),
        resources === undefined ? [] : client.allResources(),
        resources === undefined ? [] : client.allResourceTemplates(),
      ]);
      return {
        name,
        tools: lists[0].map((tool) => tool.name),
        prompts: lists[1].map((prompt) => prompt.name),
        resources: lists[2].map(({ uri }) => uri),
        templates: lists[3].map(({ uriTemplate }) => uriTemplate),
      };
    } finally {
      await client.close();
    }
  } catch (error) {
    return { name, ...NOTHING, error: McpError.from(error) };
  }
}

/** Whether the offers contain everything that is looked for. */
export function servesQuery(offers: ServerOffers, { tool, prompt, resource }: OfferQuery): boolean {
  if (tool !== undefined && !offers.tools.includes(tool)) return false;
  if (prompt !== undefined && !offers.prompts.includes(prompt)) return false;
  if (resource === undefined) return tool !== undefined || prompt !== undefined;
  return offers.resources.includes(resource) || offers.templates.some((template) => matches(template, resource));
}

function matches(template: string, uri: string): boolean {
  try {
    return compileMatcher(template)(uri) !== undefined;
  } catch {
    // Another implementation's template that this one cannot read.
    return false;
  }
}
