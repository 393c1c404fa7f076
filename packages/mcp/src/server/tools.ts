import { checkParamHeaders, type ParamHeader, paramHeaderTable } from "../era/stateless/param-headers.js";
import { isObject } from "../jsonrpc/message.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import type { CallToolResult, ListToolsResult, Tool as WireTool } from "../protocol/tools.js";
import { compileParser, describeIssues, type ParseResult, type Parser } from "../schema/parse.js";
import type { AnySchema } from "../schema/standard.js";
import type { AskingContext } from "./context.js";
import type { ServerCore } from "./core.js";
import type { Feature, MethodHandler } from "./feature.js";
import { type ListShape, PagedList, pageOf } from "./pages.js";
import type { Run } from "./run.js";
import type { Tool } from "./tool.js";
import { toCallResult, toErrorResult } from "./tool-result.js";

/** A tool made ready at registration: nothing about it is computed per call. */
interface ReadyTool {
  name: string;
  wire: WireTool;
  input: Parser;
  output: Parser | undefined;
  headers: readonly ParamHeader[];
  handler: (args: unknown, ctx: AskingContext) => unknown;
}

const NO_ARGUMENTS = { type: "object", additionalProperties: false } as const satisfies AnySchema;

const LIST: ListShape<WireTool, ListToolsResult> = {
  name: "tools",
  keyOf: (tool) => tool.name,
  result: (tools, next) => ({ tools, ...next }),
};

/** The tools of one server. */
export class Tools implements Feature {
  readonly #core: ServerCore;
  readonly #tools = new Map<string, ReadyTool>();
  #list: PagedList<WireTool, ListToolsResult> | undefined;
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
    this.#tools.set(tool.name, ready(tool, this.#core));
    this.#changed();
  }

  remove(name: string): boolean {
    const removed = this.#tools.delete(name);
    if (removed) this.#changed();
    return removed;
  }

  #changed(): void {
    this.#list = undefined;
    this.#used = true;
    this.#core.changed();
    this.#core.hub.listChanged("tools");
  }

  #listed(run: Run): ListToolsResult {
    run.cache = this.#core.hints.tools;
    this.#list ??= new PagedList(
      LIST,
      [...this.#tools.values()].map(({ wire }) => wire),
    );
    return pageOf(this.#core, this.#list, run.call.params);
  }

  #call(run: Run): CallToolResult | Promise<CallToolResult> {
    const { name, arguments: args = {} } = run.call.params;
    if (typeof name !== "string") throw new McpError("invalid_params", "`params.name` of tools/call must be a string");
    const tool = this.#tools.get(name);
    if (tool === undefined)
      throw new McpError("invalid_params", `unknown tool: ${name}`, { fix: "List the tools to see their names." });
    if (!isObject(args)) throw new McpError("invalid_params", "`params.arguments` of tools/call must be an object");
    if (tool.headers.length > 0 && run.exchange.http !== undefined && run.call.era.mirrorsParams) {
      checkParamHeaders(tool.headers, args, run.exchange.http);
    }
    const parsed = tool.input.parse(args);
    return parsed instanceof Promise
      ? parsed.then((settled) => this.#run(tool, settled, run))
      : this.#run(tool, parsed, run);
  }

  #run(tool: ReadyTool, parsed: ParseResult, run: Run): CallToolResult | Promise<CallToolResult> {
    if (!parsed.ok) return this.#refuse(tool, parsed);
    const asksByRequest = run.call.era.asks === "request";
    const failed = (error: unknown) => toErrorResult(error, this.#core, asksByRequest);
    try {
      const value = tool.handler(parsed.value, run.ctx);
      if (isThenable(value))
        return Promise.resolve(value)
          .then((settled) => toCallResult(tool.name, settled, tool.output))
          .catch(failed);
      const made = toCallResult(tool.name, value, tool.output);
      return made instanceof Promise ? made.catch(failed) : made;
    } catch (error) {
      return failed(error);
    }
  }

  #refuse(tool: ReadyTool, { issues }: ParseResult & { ok: false }): CallToolResult {
    const message = `Invalid arguments for tool "${tool.name}": ${describeIssues(issues)}`;
    if (this.#core.options.invalidArguments === "protocol")
      throw new McpError("invalid_params", message, { data: { issues } });
    return { content: [{ type: "text", text: message }], isError: true };
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function ready({ name, definition, handler }: Tool, core: ServerCore): ReadyTool {
  const adapter = core.toJsonSchema;
  const { input: inputSchema, output: outputSchema, ...said } = definition;
  const input = compileParser(inputSchema ?? NO_ARGUMENTS, { io: "input", what: `tool "${name}" input`, adapter });
  const output =
    outputSchema === undefined
      ? undefined
      : compileParser(outputSchema, { io: "output", what: `tool "${name}" output`, adapter });
  if (input.jsonSchema["type"] !== "object") {
    throw new McpError("invalid_definition", `the input schema of tool "${name}" must have type "object"`, {
      fix: "Wrap it in an object.",
    });
  }
  const table = paramHeaderTable(input.jsonSchema);
  if ("problem" in table) throw new McpError("invalid_definition", `tool "${name}": ${table.problem}`);
  const wire = {
    name,
    ...said,
    inputSchema: input.jsonSchema,
    ...(output === undefined ? {} : { outputSchema: output.jsonSchema }),
  };
  return {
    name,
    // A JSON Schema of type object is what the wire's type describes.
    wire: wire as unknown as WireTool,
    input,
    output,
    headers: table.headers,
    // The parser makes sure that the arguments are what the handler declares.
    handler: handler as ReadyTool["handler"],
  };
}
