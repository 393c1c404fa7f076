import { printableLine } from "../../encoding/printable.js";
import { isObject } from "../../jsonrpc/message.js";
import type { CallToolResult, Tool } from "../../protocol/features/tools.js";
import { type SearchDetail, type ToolHit, ToolSearch } from "../catalogue/tool-search.js";

/** The tools that stand behind the three. */
export interface CallableTools<Options = unknown> {
  /** All of them, under the names to call them by; the same list as long as nothing has changed. */
  tools(): readonly Tool[];
  callTool(name: string, args: Record<string, unknown> | undefined, options: Options): Promise<CallToolResult>;
  /** The server of a tool. Default: what stands before `__` in its name. */
  serverOf?(tool: Tool): string;
}

const MOST_NAMED_SERVERS = 40;
const LONGEST_SERVER_LIST = 2000;
const MOST_DESCRIBED = 20;
const DETAILS: readonly string[] = ["name", "summary", "full"] satisfies SearchDetail[];

/** Three tools in place of a long list: a model searches, reads what it needs, and calls. */
export class MetaTools<Options = unknown> {
  readonly #behind: CallableTools<Options>;
  readonly #search = new ToolSearch();
  #indexed: readonly Tool[] | undefined;

  constructor(behind: CallableTools<Options>) {
    this.#behind = behind;
  }

  /** The definitions; they name the servers, so they change with them. */
  tools(): Tool[] {
    const index = this.#index();
    const servers = index.categories().map(({ server, count }) => `${printableLine(server)} (${count})`);
    const named = servers.slice(0, MOST_NAMED_SERVERS).join(", ").slice(0, LONGEST_SERVER_LIST);
    const more = servers.length > MOST_NAMED_SERVERS ? " and others" : "";
    return [searchTools(`${index.size} tools of ${named || "no server yet"}${more}`), DESCRIBE_TOOL, CALL_TOOL];
  }

  /** Whether a name is one of the three. */
  has(name: string): boolean {
    return name === "search_tools" || name === "describe_tool" || name === "call_tool";
  }

  /** Calls one of the three. Rejects as the tool behind does; what the model can correct is a result with `isError`. */
  async call(name: string, args: Record<string, unknown> | undefined, options: Options): Promise<CallToolResult> {
    const given = args ?? {};
    if (name === "search_tools") return this.#found(given);
    if (name === "describe_tool") return this.#described(given);
    return name === "call_tool" ? this.#called(given, options) : failed(`There is no tool ${printableLine(name)}.`);
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
    if (typeof query !== "string") return failed("`query` is a text: what the tool is to do.");
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > 100) {
      return failed("`limit` is a whole number from 1 to 100.");
    }
    if (!DETAILS.includes(String(detail))) return failed("`detail` is name, summary or full.");
    if (server !== undefined && typeof server !== "string") return failed("`server` is the name of a server.");
    const index = this.#index();
    // Safe: one of the three words, as checked above.
    const hits = index.search(query, { limit, detail: detail as SearchDetail, server });
    if (hits.length > 0) return answer(hits.map(shown).join("\n"));
    const servers = index.categories().map((category) => `${category.server}: ${category.topics.join(", ")}`);
    return answer(`No tool fits these words. Servers and their subjects:\n${servers.join("\n").slice(0, 4000)}`);
  }

  #described({ names }: Record<string, unknown>): CallToolResult {
    const wanted: unknown[] = Array.isArray(names) ? names : [names];
    if (wanted.length === 0 || wanted.length > MOST_DESCRIBED || !wanted.every((name) => typeof name === "string")) {
      return failed(`\`names\` is a list of 1 to ${MOST_DESCRIBED} names of tools.`);
    }
    const index = this.#index();
    const unknown = wanted.find((name) => index.find(name) === undefined);
    if (unknown !== undefined) return this.#unknown(unknown);
    return answer(wanted.map((name) => JSON.stringify(index.find(name))).join("\n"));
  }

  async #called({ name, arguments: args }: Record<string, unknown>, options: Options): Promise<CallToolResult> {
    if (typeof name !== "string") return failed("`name` is the name of a tool, from search_tools.");
    if (args !== undefined && !isObject(args)) return failed("`arguments` is an object.");
    if (this.#index().find(name) === undefined) return this.#unknown(name);
    return this.#behind.callTool(name, args, options);
  }

  #unknown(name: string): CallToolResult {
    const near = this.#index().search(name, { limit: 5, detail: "name" });
    const hint = near.length === 0 ? "Search with search_tools." : `Near: ${near.map((hit) => hit.name).join(", ")}.`;
    return failed(`There is no tool ${printableLine(name.slice(0, 200))}. ${hint}`);
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
      query: { type: "string", description: "What the tool is to do." },
      server: { type: "string", description: "Tools of this server only." },
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
        maxItems: MOST_DESCRIBED,
        description: "Names that search_tools gave.",
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
      name: { type: "string", description: "The name that search_tools gave." },
      arguments: { type: "object", description: "The arguments, as the tool's schema has them." },
    },
    required: ["name"],
  },
};
