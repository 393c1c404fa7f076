import { printableLine } from "../../encoding/printable.js";
import { isObject } from "../../jsonrpc/message.js";
import type { CallToolResult, Tool } from "../../protocol/features/tools.js";
import { type SearchDetail, type ToolHit, ToolSearch } from "../catalogue/tool-search.js";

/** The tools that `MetaTools` searches, describes and calls. */
export interface CallableTools<Options = unknown> {
  /** All tools, under the names to call them by. Must return the same array until a tool changes. */
  tools(): readonly Tool[];
  /** Calls a tool by its name in `tools()`. `options` is the value that `MetaTools.call` got. */
  callTool(name: string, args: Record<string, unknown> | undefined, options: Options): Promise<CallToolResult>;
  /** The server of a tool. Default: the text before `__` in its name. */
  serverOf?(tool: Tool): string;
}

const MAX_NAMED_SERVERS = 40;
const MAX_SERVER_LIST_LENGTH = 2000;
const MAX_DESCRIBED = 20;
const DETAILS: readonly string[] = ["name", "summary", "full"] satisfies SearchDetail[];

/**
 * Three tools in place of a long list: a model searches tools, reads the definitions it needs, and calls one.
 *
 * @example
 * ```ts
 * import { type CallableTools, MetaTools } from "@parley/mcp/host";
 *
 * async function ask(tools: CallableTools<undefined>) {
 *   const meta = new MetaTools(tools);
 *   return meta.call("search_tools", { query: "create an issue" }, undefined);
 * }
 * ```
 */
export class MetaTools<Options = unknown> {
  readonly #behind: CallableTools<Options>;
  readonly #search = new ToolSearch();
  #indexed: readonly Tool[] | undefined;

  /** Creates the three tools for searching, describing and calling the tools of `behind`. */
  constructor(behind: CallableTools<Options>) {
    this.#behind = behind;
  }

  /** The definitions of the three tools. They list the servers, and therefore change with the servers. */
  tools(): Tool[] {
    const index = this.#index();
    const servers = index.categories().map(({ server, count }) => `${printableLine(server)} (${count})`);
    const named = servers.slice(0, MAX_NAMED_SERVERS).join(", ").slice(0, MAX_SERVER_LIST_LENGTH);
    const more = servers.length > MAX_NAMED_SERVERS ? " and others" : "";
    return [searchTools(`${index.size} tools of ${named || "no server yet"}${more}`), DESCRIBE_TOOL, CALL_TOOL];
  }

  /** True if `name` is the name of one of the three tools. */
  has(name: string): boolean {
    return name === "search_tools" || name === "describe_tool" || name === "call_tool";
  }

  /**
   * Calls one of the three tools. Rejects if the called tool rejects. Mistakes that the model can correct are results
   * with `isError`.
   */
  async call(name: string, args: Record<string, unknown> | undefined, options: Options): Promise<CallToolResult> {
    const given = args ?? {};
    if (name === "search_tools") return this.#found(given);
    if (name === "describe_tool") return this.#described(given);
    return name === "call_tool" ? this.#called(given, options) : failed(`Unknown tool: ${printableLine(name)}.`);
  }

  #index(): ToolSearch {
    const tools = this.#behind.tools();
    if (tools !== this.#indexed) {
      this.#search.update(tools, (tool) => this.#behind.serverOf?.(tool) ?? tool.name.split("__")[0] ?? "");
      this.#indexed = tools;
    }
    return this.#search;
  }

  #found({ query, limit = 10, detail = "summary", server }: Record<string, unknown>): CallToolResult {
    if (typeof query !== "string") return failed("`query` must be a string that says what the tool should do.");
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > 100) {
      return failed("`limit` must be a whole number from 1 to 100.");
    }
    if (!DETAILS.includes(String(detail))) return failed("`detail` must be name, summary or full.");
    if (server !== undefined && typeof server !== "string") return failed("`server` must be the name of a server.");
    const index = this.#index();
    // Safe: one of the three words, as checked above.
    const hits = index.search(query, { limit, detail: detail as SearchDetail, server });
    if (hits.length > 0) return answer(hits.map(shown).join("\n"));
    const servers = index.categories().map((category) => `${category.server}: ${category.topics.join(", ")}`);
    return answer(`No tool matches these words. Servers and their topics:\n${servers.join("\n").slice(0, 4000)}`);
  }

  #described({ names }: Record<string, unknown>): CallToolResult {
    const wanted: unknown[] = Array.isArray(names) ? names : [names];
    if (wanted.length === 0 || wanted.length > MAX_DESCRIBED || !wanted.every((name) => typeof name === "string")) {
      return failed(`\`names\` must be a list of 1 to ${MAX_DESCRIBED} names of tools.`);
    }
    const index = this.#index();
    const unknown = wanted.find((name) => index.find(name) === undefined);
    if (unknown !== undefined) return this.#unknown(unknown);
    return answer(wanted.map((name) => JSON.stringify(index.find(name))).join("\n"));
  }

  async #called({ name, arguments: args }: Record<string, unknown>, options: Options): Promise<CallToolResult> {
    if (typeof name !== "string") return failed("`name` must be the name of a tool from search_tools.");
    if (args !== undefined && !isObject(args)) return failed("`arguments` must be an object.");
    if (this.#index().find(name) === undefined) return this.#unknown(name);
    return this.#behind.callTool(name, args, options);
  }

  #unknown(name: string): CallToolResult {
    const near = this.#index().search(name, { limit: 5, detail: "name" });
    const hint =
      near.length === 0 ? "Search with search_tools." : `Similar: ${near.map((hit) => hit.name).join(", ")}.`;
    return failed(`Unknown tool: ${printableLine(name.slice(0, 200))}. ${hint}`);
  }
}

function shown({ name, summary, arguments: args, tool }: ToolHit): string {
  if (tool !== undefined) return JSON.stringify(tool);
  return summary === undefined ? name : `${name}(${args?.join(", ")}): ${summary}`;
}

function answer(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function failed(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

const searchTools = (what: string): Tool => ({
  name: "search_tools",
  description:
    `Finds tools by what they do, best first, among ${what}. ` +
    "Use words for the action and the thing, such as `create calendar event`. Then call the tool with call_tool.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "What the tool should do." },
      server: { type: "string", description: "Only tools of this server." },
      detail: {
        enum: DETAILS,
        description: "summary (default): with arguments and one sentence. name: names only. full: with all schemas.",
      },
      limit: { type: "integer", minimum: 1, maximum: 100, description: "Default: 10." },
    },
    required: ["query"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
});

const DESCRIBE_TOOL: Tool = {
  name: "describe_tool",
  description:
    "Returns the full definitions of tools, with the schemas of their arguments. Read them before the first call.",
  inputSchema: {
    type: "object",
    properties: {
      names: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        maxItems: MAX_DESCRIBED,
        description: "Names from search_tools.",
      },
    },
    required: ["names"],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const CALL_TOOL: Tool = {
  name: "call_tool",
  description: "Calls a tool by its name and returns its result.",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "The name from search_tools." },
      arguments: { type: "object", description: "The arguments, as defined by the tool's schema." },
    },
    required: ["name"],
  },
};
