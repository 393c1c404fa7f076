import { MetaTools } from "@parley/mcp/host";
import { printableLine, type Tool } from "@parley/mcp/protocol";
import { declarationHeader, functionDeclaration } from "../typed-code/module-text.js";
import { typedModule } from "../typed-code/typed-module.js";
import { toolCosts } from "./server-costs.js";
import type { CountTokens } from "./token-counter.js";

/** Tokens that a model reads for the same task with three patterns: direct definitions, generated code and search. */
export interface PatternCosts {
  readonly tools: number;
  /** Number of tools that the task uses. */
  readonly uses: number;
  /** All definitions, in every request. */
  readonly direct: number;
  /** The names of all functions, and the declarations of the used ones. */
  readonly code: number;
  /**
   * Like `code`, but lists the servers first and then the functions of one server. Equal to `code` for a single server.
   */
  readonly codeByServer: number;
  /** The three search tools and, for each use, one search result and one definition. */
  readonly search: number;
  readonly parts: {
    readonly opening: number;
    readonly names: number;
    readonly declaration: number;
    readonly threeTools: number;
    readonly found: number;
    readonly described: number;
  };
}

export interface PatternOptions {
  readonly uses?: number | undefined;
  /** Search queries. Default: the names of the tools, split into words. */
  readonly queries?: readonly string[] | undefined;
}

/**
 * Maximum number of searches and definitions from which a median is computed. From longer lists, evenly spread samples
 * are used.
 */
const MAX_SAMPLES = 100;

/** Measures direct definitions, generated code and search for the same tools. */
export async function patternCosts(
  tools: readonly Tool[],
  count: CountTokens,
  { uses = 1, queries }: PatternOptions = {},
): Promise<PatternCosts> {
  const { sum: direct } = await toolCosts(tools, count);
  const module = typedModule({ server: "", tools, prompts: [], templates: [] });
  const opening = count(declarationHeader());
  const names = new Map<string, string[]>();
  for (const { source, name } of module.functions) {
    const server = serverOf(source);
    names.set(server, [...(names.get(server) ?? []), name]);
  }
  const listed = (list: readonly string[]) => count(list.join("\n"));
  const allNames = listed([...names.values()].flat());
  const someNames = names.size < 2 ? allNames : listed([...names.keys()]) + median([...names.values()].map(listed));
  const declaration = median(samples(module.functions).map((one) => count(functionDeclaration(one))));
  const search = await searchCosts(tools, count, queries ?? samples(tools).map(({ name }) => inWords(name)));
  return {
    tools: tools.length,
    uses,
    direct,
    code: opening + allNames + uses * declaration,
    codeByServer: opening + someNames + uses * declaration,
    search: search.threeTools + uses * (search.found + search.described),
    parts: { opening, names: allNames, declaration, ...search },
  };
}

/** The saving compared with direct definitions, in percent with one decimal. */
export function savedPercent(cost: number, direct: number): number {
  return direct === 0 ? 0 : Math.round((1 - cost / direct) * 1_000) / 10;
}

async function searchCosts(tools: readonly Tool[], count: CountTokens, queries: readonly string[]) {
  const meta = new MetaTools({ tools: () => tools, callTool: () => Promise.reject(new Error("only measured")) });
  const answered = async (name: string, args: Record<string, unknown>) => {
    const { content } = await meta.call(name, args, undefined);
    return count(content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
  };
  const found: number[] = [];
  for (const query of queries) found.push(await answered("search_tools", { query: query.slice(0, 500) }));
  const described: number[] = [];
  for (const { name } of samples(tools)) described.push(await answered("describe_tool", { names: [name] }));
  return {
    threeTools: (await toolCosts(meta.tools(), count)).sum,
    found: median(found),
    described: median(described),
  };
}

/** The server's name in a tool name that a gateway prefixed. Empty if the name has no prefix. */
function serverOf(name: string): string {
  const at = name.indexOf("__");
  return at < 1 ? "" : printableLine(name.slice(0, at));
}

function inWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[^A-Za-z0-9]+/g, " ");
}

/** Returns at most about `MAX_SAMPLES` elements of a list, evenly spread. */
function samples<T>(list: readonly T[]): T[] {
  const step = Math.max(1, list.length / MAX_SAMPLES);
  return list.filter((_, at) => at === 0 || Math.floor(at / step) > Math.floor((at - 1) / step));
}

function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? 0;
}
