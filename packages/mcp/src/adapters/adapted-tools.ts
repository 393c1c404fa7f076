import { printableLine } from "../encoding/printable.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { CallToolResult, Tool } from "../protocol/features/tools.js";
import { type LoweredArguments, lowerArguments, openArguments, sameArguments } from "./schema/lower-arguments.js";
import { GEMINI, legalName, OPENAI_STRICT } from "./schema/schema-dialect.js";

/** Options of one tool call. */
export interface ToolCallOptions {
  /** Cancels the call. */
  signal?: AbortSignal | undefined;
}

/**
 * A source of tools: a client, a host, or any object that lists and calls tools. It needs `allTools` or `tools`;
 * `allTools` takes precedence.
 */
export interface ToolSource {
  /** Returns all tools at once. Default: the adapter reads `tools`. */
  allTools?(): readonly Tool[] | Promise<readonly Tool[]>;
  /** Iterates over the tools. Unused if `allTools` exists. */
  tools?(): Iterable<Tool> | AsyncIterable<Tool>;
  /** Calls a tool by the name that the server gave it. Rejects if the call gets no result. */
  callTool(name: string, args?: Record<string, unknown>, options?: ToolCallOptions): Promise<CallToolResult>;
}

/** The provider whose schema rules apply; `any` leaves the schema as the server wrote it. */
export type SchemaRules = "any" | "anthropic" | "gemini" | "openai";

/** A tool with a name and a schema that a provider accepts. */
export interface AdaptedTool {
  readonly name: string;
  readonly description: string;
  readonly arguments: LoweredArguments;
  readonly tool: Tool;
}

/** The constraints of one tool that a provider's schema cannot express. The server still enforces them. */
export interface LostParts {
  /** The tool's name on the server. */
  readonly tool: string;
  /** One description per constraint, such as `city.name: minLength`. */
  readonly parts: readonly string[];
}

/** Maximum number of tools to adapt. Beyond that, adapting fails with `limit_exceeded`. */
const MAX_TOOLS = 10_000;
const LEGAL = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const LOWER_BY_RULES: Readonly<Record<SchemaRules, (schema: Tool["inputSchema"]) => LoweredArguments>> = {
  any: sameArguments,
  anthropic: openArguments,
  gemini: (schema) => lowerArguments(schema, GEMINI),
  openai: (schema) => lowerArguments(schema, OPENAI_STRICT),
};

/** The tools of a source as one provider sees them. Maps calls back to the original names and arguments. */
export class AdaptedTools {
  readonly list: readonly AdaptedTool[];
  readonly #source: ToolSource;
  readonly #byName: ReadonlyMap<string, AdaptedTool>;

  constructor(source: ToolSource, tools: readonly Tool[], rules: SchemaRules) {
    this.#source = source;
    const taken = new Set(tools.map(({ name }) => name).filter((name) => LEGAL.test(name)));
    this.list = tools.map((tool) => {
      const name = taken.has(tool.name) ? tool.name : legalName(tool.name, taken);
      taken.add(name);
      const lowered = LOWER_BY_RULES[rules](tool.inputSchema);
      return { name, description: tool.description ?? tool.title ?? tool.name, arguments: lowered, tool };
    });
    this.#byName = new Map(this.list.map((tool) => [tool.name, tool]));
  }

  get lost(): LostParts[] {
    return this.list
      .filter((tool) => tool.arguments.lost.length > 0)
      .map(({ tool, arguments: { lost } }) => ({ tool: tool.name, parts: lost }));
  }

  /**
   * Calls a tool by its adapted name. Rejects with `invalid_params` for an unknown name, or for arguments that are not
   * an object.
   */
  async call(name: string, args: unknown, options: ToolCallOptions): Promise<CallToolResult> {
    const adapted = this.#byName.get(name);
    if (adapted === undefined) {
      throw new McpError("invalid_params", `unknown tool: ${printableLine(name)}`, {
        fix: "Call one of the tools that were offered.",
      });
    }
    if (args !== undefined && args !== null && !isObject(args)) {
      throw new McpError("invalid_params", `the arguments of "${name}" are not an object`);
    }
    const { signal } = options;
    return this.#source.callTool(
      adapted.tool.name,
      adapted.arguments.decode(args ?? {}),
      signal === undefined ? {} : { signal },
    );
  }

  /**
   * Like `call`, but returns errors that a model can correct (unknown name, wrong arguments) as results with `isError`.
   */
  async callForModel(name: string, args: unknown, options: ToolCallOptions): Promise<CallToolResult> {
    try {
      return await this.call(name, args, options);
    } catch (error) {
      if (!McpError.is(error) || error.kind !== "invalid_params") throw error;
      return { content: [{ type: "text", text: error.message }], isError: true };
    }
  }
}

/**
 * True if models may call a tool. A server can restrict a tool to its own app pages.
 *
 * Spec: MCP Apps, "Resource Discovery", https://modelcontextprotocol.io/extensions/apps/overview
 */
function isForModels({ _meta: meta }: Tool): boolean {
  const ui = isObject(meta) ? meta["ui"] : undefined;
  const visibility = isObject(ui) ? ui["visibility"] : undefined;
  return visibility === undefined || (Array.isArray(visibility) && visibility.includes("model"));
}

/** Lists the tools of a source and adapts those that models may call. */
export async function adaptTools(source: ToolSource, rules: SchemaRules): Promise<AdaptedTools> {
  if (!Object.hasOwn(LOWER_BY_RULES, rules)) {
    throw new McpError("invalid_definition", `unknown schema rules: "${String(rules)}"`, {
      fix: `Use one of: ${Object.keys(LOWER_BY_RULES).join(", ")}.`,
    });
  }
  const tools = new Map<string, Tool>();
  const listed = typeof source.allTools === "function" ? await source.allTools() : source.tools?.();
  if (listed === undefined) {
    throw new McpError("misuse", "the source of tools has neither `allTools` nor `tools`", {
      fix: "Pass a client or a host.",
    });
  }
  for await (const tool of listed) {
    // Keep the first of several tools with one name: providers reject duplicates.
    if (isForModels(tool) && !tools.has(tool.name)) tools.set(tool.name, tool);
    if (tools.size > MAX_TOOLS) {
      throw new McpError("limit_exceeded", `there are more than ${MAX_TOOLS} tools to adapt`, {
        fix: "Offer fewer tools to the model: filter them, or let it search.",
      });
    }
  }
  return new AdaptedTools(source, [...tools.values()], rules);
}
