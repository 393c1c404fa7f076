import { isObject } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import type { CallToolResult } from "../protocol/features/tools.js";
import {
  type AdaptedTool,
  adaptTools,
  type LostParts,
  type ToolCallOptions,
  type ToolSource,
} from "./adapted-tools.js";
import { resultParts, textOfResult } from "./result-parts.js";
import type { SchemaNode } from "./schema/merge-schemas.js";

/** A function that Gemini models may call. */
export interface GeminiFunction {
  /** The name for the model. Differs from the server's name if the API would reject that name. */
  name: string;
  /** The tool's description; its title or name if the server gave none. */
  description: string;
  /** The arguments as a schema of the Gemini API. Absent if the tool has no arguments. */
  parameters?: object;
}

/** A function call in a reply of the model. */
export interface GeminiCall {
  /** The id of the call, if the API gave one; the result repeats it. */
  id?: string | undefined;
  /** The name from `GeminiFunction`. */
  name?: string | undefined;
  /** The arguments that the model wrote. Default: none. */
  args?: Record<string, unknown> | undefined;
}

/** The result of a call, as a part of the next content. */
export interface GeminiResult {
  /** The response part of the Gemini API, with the id and the name of the call. */
  functionResponse: {
    id?: string;
    name: string;
    /** The result as `output`, or the message as `error` if the tool failed. */
    response: Record<string, unknown>;
    /** Images, audio and files. Absent if the result has none. */
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** Tools for the Gemini API. */
export interface GeminiTools {
  /** The tools, for `config.tools`. Empty if the source has none. */
  readonly tools: { functionDeclarations: GeminiFunction[] }[];
  /** The constraints that the schemas for the model cannot express. */
  readonly lost: readonly LostParts[];
  /**
   * Runs a call of the model. A failed tool, an unknown name and wrong arguments give a result with `error`. Rejects if
   * the call gets no result, such as after a timeout.
   */
  call(call: GeminiCall, options?: ToolCallOptions): Promise<GeminiResult>;
}

/**
 * Adapts the tools of a client or a host to the Gemini API, and runs the model's calls.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/adapters.md | Agent frameworks}
 */
export async function toGeminiTools(source: ToolSource): Promise<GeminiTools> {
  const adapted = await adaptTools(source, "gemini");
  return {
    tools: adapted.list.length === 0 ? [] : [{ functionDeclarations: adapted.list.map(declarationOf) }],
    lost: adapted.lost,
    async call({ id, name = "", args }, options = {}) {
      checkOptions("a call", options, "signal");
      const result = await adapted.callForModel(name, args, options);
      const parts = resultParts(result).flatMap((part) =>
        part.type === "text" ? [] : [{ inlineData: { mimeType: part.mimeType, data: part.data } }],
      );
      return {
        functionResponse: {
          ...(id === undefined ? {} : { id }),
          name,
          response: geminiResponse(result),
          ...(parts.length === 0 ? {} : { parts }),
        },
      };
    },
  };
}

function declarationOf({ name, description, arguments: { schema } }: AdaptedTool): GeminiFunction {
  const hasArguments = Object.keys(Object(schema["properties"])).length > 0;
  return { name, description, ...(hasArguments ? { parameters: geminiSchema(schema) } : {}) };
}

function geminiResponse(result: CallToolResult): Record<string, unknown> {
  const { structuredContent, isError } = result;
  if (isError === true) return { error: textOfResult(result) };
  return { output: structuredContent ?? textOfResult(result) };
}

/** The constructor argument of ADK's `FunctionTool`. */
export interface AdkToolDefinition {
  name: string;
  description: string;
  parameters?: object;
  execute(args: unknown, context?: unknown): Promise<unknown>;
}

/** Options of `toAdkTools`. */
export interface AdkToolsOptions<T> {
  /** The class `FunctionTool` of `@google/adk`. Passed in, so that this library does not depend on the package. */
  FunctionTool: new (
    definition: never,
  ) => T;
}

/**
 * Creates tools of Google's Agent Development Kit. A tool that fails returns `{ error }` to the model.
 *
 * @example
 * ```ts
 * import type { Client } from "@parley/mcp";
 * import { type AdkToolsOptions, toAdkTools } from "@parley/mcp/adapters";
 *
 * // `FunctionTool` is that of `@google/adk`.
 * async function toolsFor<T>(client: Client, FunctionTool: AdkToolsOptions<T>["FunctionTool"]) {
 *   return toAdkTools(client, { FunctionTool });
 * }
 * ```
 */
export async function toAdkTools<T>(source: ToolSource, options: AdkToolsOptions<T>): Promise<T[]> {
  checkOptions("toAdkTools", options, "FunctionTool");
  const adapted = await adaptTools(source, "gemini");
  return adapted.list.map((tool) => {
    const definition: AdkToolDefinition = {
      ...declarationOf(tool),
      execute: async (args, context) => {
        const signal =
          isObject(context) && context["abortSignal"] instanceof AbortSignal ? context["abortSignal"] : undefined;
        return geminiResponse(await adapted.callForModel(tool.name, args, { signal }));
      },
    };
    // Safe: the class accepts this definition. Its own type is generic over schema libraries that this library does not
    // depend on.
    return new options.FunctionTool(definition as never);
  });
}

/** A schema of the Gemini API. */
type GeminiSchema = Record<string, unknown>;

/** Keywords whose numbers the API expects as strings. */
const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/** Converts a schema of the dialect `GEMINI` to the notation of the API. */
export function geminiSchema(schema: SchemaNode): GeminiSchema {
  const result: GeminiSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "type") Object.assign(result, typed(value));
    else if (keyword === "anyOf" && Array.isArray(value)) Object.assign(result, choices(value));
    else if (keyword === "enum" && Array.isArray(value)) result["enum"] = value.filter((one) => one !== null);
    else if (keyword === "items" && isObject(value)) result["items"] = geminiSchema(value);
    else if (keyword === "properties" && isObject(value)) {
      const entries = Object.entries(value).map(
        ([name, inside]) => [name, geminiSchema(inside as SchemaNode)] as const,
      );
      result["properties"] = Object.fromEntries(entries);
    } else result[keyword] = COUNTS.includes(keyword) ? String(value) : value;
  }
  return result;
}

function typed(type: unknown): GeminiSchema {
  const names = [type].flat().map((name) => String(name).toUpperCase());
  const [first = "NULL"] = names.filter((name) => name !== "NULL");
  return { type: first, ...(names.length > 1 && names.includes("NULL") ? { nullable: true } : {}) };
}

function choices(branches: readonly SchemaNode[]): GeminiSchema {
  const isNull = ({ type }: SchemaNode) => type === "null";
  const others = branches.filter((branch) => !isNull(branch)).map(geminiSchema);
  const nullable = others.length < branches.length ? { nullable: true } : {};
  const [only] = others;
  return others.length === 1 && only !== undefined ? { ...only, ...nullable } : { anyOf: others, ...nullable };
}
