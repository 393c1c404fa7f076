import type { Client } from "@parley/mcp";
import { toOpenAITools } from "@parley/mcp/adapters";
import type { Prompt, Resource, ResourceTemplate, Tool } from "@parley/mcp/protocol";
import type { CountTokens } from "./token-counter.js";

/** The number of tokens that one tool adds to every request that offers it. */
export interface ToolCost {
  readonly name: string;
  readonly tokens: number;
}

/** The tokens of a server's offers. */
export interface ServerCosts {
  /** The most expensive tools first. Tools with equal costs are sorted by name. */
  readonly tools: readonly ToolCost[];
  /** Tokens of all tools together. */
  readonly sum: number;
  /** Further texts that a host may add to a request: instructions, and lists of prompts and resources. */
  readonly others: readonly { readonly what: string; readonly count: number; readonly tokens: number }[];
}

/** Maximum number of entries read from one list. Further entries are not counted. */
const MAX_OFFERS = 5_000;

/** Counts the tokens of everything that a server offers to a model. */
export async function serverCosts(client: Client, count: CountTokens, signal: AbortSignal): Promise<ServerCosts> {
  const { tools: hasTools, prompts, resources } = client.serverCapabilities;
  const options = { signal };
  const tools = hasTools === undefined ? [] : await collect(client.tools(options));
  const { instructions = "" } = client;
  const lists = {
    prompts: prompts === undefined ? [] : await collect(client.prompts(options)),
    resources: resources === undefined ? [] : await collect(client.resources(options)),
  };
  const guidance = instructions === "" ? [] : [{ what: "instructions", count: 1, tokens: count(instructions) }];
  const listed = Object.entries(lists).map(([what, list]) => ({
    what,
    count: list.length,
    tokens: list.reduce((sum: number, one) => sum + count(shownOffer(one)), 0),
  }));
  return { ...(await toolCosts(tools, count)), others: [...guidance, ...listed.filter((one) => one.count > 0)] };
}

/**
 * Counts the tokens of each tool in the JSON form of OpenAI's Responses API: name, description and schema of the
 * arguments.
 */
export async function toolCosts(tools: readonly Tool[], count: CountTokens): Promise<Omit<ServerCosts, "others">> {
  const costs: ToolCost[] = [];
  for (const tool of tools) {
    const { responses } = await toOpenAITools({ allTools: () => [tool], callTool: onlyMeasured }, { strict: false });
    // Tools that only apps may call are not offered to models, so they cost nothing.
    if (responses[0] !== undefined) costs.push({ name: tool.name, tokens: count(JSON.stringify(responses[0])) });
  }
  costs.sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
  return { tools: costs, sum: costs.reduce((sum, { tokens }) => sum + tokens, 0) };
}

function onlyMeasured(): Promise<never> {
  return Promise.reject(new Error("these tools are only measured"));
}

/** The part of an entry that a host shows to a model. */
function shownOffer({ name, description, ...more }: Prompt | Resource | ResourceTemplate): string {
  const address = "uri" in more ? { uri: more.uri } : {};
  const args = "arguments" in more && more.arguments !== undefined ? { arguments: more.arguments } : {};
  return JSON.stringify({ name, ...address, description, ...args });
}

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of list) {
    if (found.push(one) >= MAX_OFFERS) break;
  }
  return found;
}
