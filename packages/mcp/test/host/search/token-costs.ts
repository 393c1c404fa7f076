import { MetaTools } from "../../../src/host/gateway/meta-tools.js";
import { SEARCH_QUERIES } from "./search-queries.js";
import { fixtureTools } from "./tool-fixture.js";

/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** What a catalogue of the fixture costs a model, in tokens. */
export interface TokenCosts {
  readonly tools: number;
  /** All definitions in every request. */
  readonly all: number;
  /** The definitions of the three tools in every request. */
  readonly three: number;
  /** One search that gives ten tools, at the median of all queries. */
  readonly search: number;
  /** The definition of one tool, at the median. */
  readonly describe: number;
}

const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1] ?? 0;

export async function tokenCosts(tools: number, count: CountTokens): Promise<TokenCosts> {
  const list = fixtureTools(tools);
  const meta = new MetaTools({ tools: () => list, callTool: () => Promise.reject(new Error("only measured")) });
  const answered = async (name: string, args: Record<string, unknown>) => {
    const { content } = await meta.call(name, args, undefined);
    return count(content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
  };
  const searches: number[] = [];
  for (const [query] of SEARCH_QUERIES) searches.push(await answered("search_tools", { query }));
  const described: number[] = [];
  for (const { name } of list) described.push(await answered("describe_tool", { names: [name] }));
  return {
    tools,
    all: count(JSON.stringify(list)),
    three: count(JSON.stringify(meta.tools())),
    search: median(searches),
    describe: median(described),
  };
}
