import { isObject } from "../jsonrpc/message.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import type { CallToolResult, ListToolsResult, Tool as WireTool } from "../protocol/tools.js";
import type { ServerCore } from "./core.js";
import { messageOf } from "./error-message.js";
import type { Feature, MethodHandler } from "./feature.js";
import { type ListShape, PagedList, pageOf } from "./pages.js";
import { type ReadyTool, readyTool } from "./ready-tool.js";
import type { Run } from "./run.js";
import type { Tool } from "./tool.js";
import { callTool } from "./tool-call.js";

type ToolList = PagedList<WireTool, ListToolsResult>;

/** Different lists to remember at once, where tools are offered to some callers only. */
const MOST_LISTS = 64;

const LIST: ListShape<WireTool, ListToolsResult> = {
  name: "tools",
  keyOf: (tool) => tool.name,
  result: (tools, next) => ({ tools, ...next }),
};

/** The tools of one server. */
export class Tools implements Feature {
  readonly #core: ServerCore;
  readonly #tools = new Map<string, ReadyTool>();
  #list: ToolList | undefined;
  /** Lists by what they hold, where tools are offered to some callers only. */
  readonly #lists = new Map<string, ToolList>();
  #perCaller = false;
  /** Stays true when the last tool is gone: clients were told of tools, and may ask for the empty list. */
  #used: boolean;
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(core: ServerCore) {
    this.#core = core;
    this.#used = core.declares("tools");
    this.handlers = { "tools/list": (run) => this.#listed(run), "tools/call": (run) => this.#call(run) };
  }

  capabilities(): ServerCapabilities {
    return this.#used ? { tools: this.#core.options.listChanged === false ? {} : { listChanged: true } } : {};
  }

  /** Offers a tool. With `replace` it takes the place of the one with its name, if there is one. */
  add(tool: Tool, replace = false): void {
    if (!replace && this.#tools.has(tool.name)) {
      throw new McpError("invalid_definition", `the tool "${tool.name}" exists already`, {
        fix: "Remove it first, or choose another name.",
      });
    }
    this.#tools.set(tool.name, readyTool(tool, this.#core));
    this.#changed();
  }

  remove(name: string): boolean {
    const removed = this.#tools.delete(name);
    if (removed) this.#changed();
    return removed;
  }

  #changed(): void {
    this.#list = undefined;
    this.#lists.clear();
    this.#perCaller = [...this.#tools.values()].some(({ enabled }) => enabled !== undefined);
    this.#used = true;
    this.#core.changed();
    this.#core.hub.listChanged("tools");
  }

  #listed(run: Run): ListToolsResult {
    const { tools } = this.#core.hints;
    run.cache = this.#perCaller ? { ...tools, scope: "private" } : tools;
    return pageOf(this.#core, this.#perCaller ? this.#listFor(run) : this.#listOfAll(), run.call.params);
  }

  #listOfAll(): ToolList {
    this.#list ??= listOf(this.#tools.values());
    return this.#list;
  }

  /** Callers who see the same tools share one list, and its text. */
  #listFor(run: Run): ToolList {
    const visible = [...this.#tools.values()].filter((tool) => this.#isVisible(tool, run));
    const key = JSON.stringify(visible.map(({ name }) => name));
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const list = listOf(visible);
    if (this.#lists.size >= MOST_LISTS) this.#lists.clear();
    this.#lists.set(key, list);
    return list;
  }

  #isVisible({ name, enabled }: ReadyTool, run: Run): boolean {
    if (enabled === undefined) return true;
    try {
      return enabled({ auth: run.ctx.auth }) === true;
    } catch (error) {
      this.#core.platform.warn(`the tool "${name}" is hidden, because its \`enabled\` failed: ${messageOf(error)}`);
      return false;
    }
  }

  #call(run: Run): CallToolResult | Promise<CallToolResult> {
    const { name, arguments: args = {} } = run.call.params;
    if (typeof name !== "string") throw new McpError("invalid_params", "`params.name` of tools/call must be a string");
    const tool = this.#tools.get(name);
    if (tool === undefined || !this.#isVisible(tool, run)) throw unknownTool(name);
    if (!isObject(args)) throw new McpError("invalid_params", "`params.arguments` of tools/call must be an object");
    return callTool(tool, args, run);
  }
}

function listOf(tools: Iterable<ReadyTool>): ToolList {
  return new PagedList(
    LIST,
    Array.from(tools, ({ wire }) => wire),
  );
}

function unknownTool(name: string): McpError {
  return new McpError("invalid_params", `unknown tool: ${name}`, { fix: "List the tools to see their names." });
}
