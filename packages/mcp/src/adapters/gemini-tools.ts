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

/** A function that models of Gemini may call. */
export interface GeminiFunction {
  name: string;
  description: string;
  /** A schema in the words of Gemini's API; absent if there are no arguments. */
  parameters?: object;
}

/** A call in a reply of the model. */
export interface GeminiCall {
  id?: string | undefined;
  name?: string | undefined;
  args?: Record<string, unknown> | undefined;
}

/** The result of a call, as a part of the next content. */
export interface GeminiResult {
  functionResponse: {
    id?: string;
    name: string;
    /** `output`, or `error` if the tool failed. */
    response: Record<string, unknown>;
    /** Images, audio and files. */
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** Tools in the form of Gemini. */
export interface GeminiTools {
  /** For `config.tools`. */
  readonly tools: { functionDeclarations: GeminiFunction[] }[];
  /** What the model does not get to know of the schemas. */
  readonly lost: readonly LostParts[];
  /**
   * Runs a call of the model. A tool that fails, an unknown name and wrong arguments are results with `error`; a call that does not
   * come to an end rejects.
   */
  call(call: GeminiCall, options?: ToolCallOptions): Promise<GeminiResult>;
}

/** Offers the tools of a client or a host to models of Gemini, and runs their calls. */
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

/** What ADK's `FunctionTool` is made of. */
export interface AdkToolDefinition {
  name: string;
  description: string;
  parameters?: object;
  execute(args: unknown, context?: unknown): Promise<unknown>;
}

/** What ADK tools need of its package. */
export interface AdkToolsOptions<T> {
  /** The class of `@google/adk`. */
  FunctionTool: new (
    definition: never,
  ) => T;
}

/** Makes tools of Google's Agent Development Kit. A tool that fails gives `{ error }` to the model. */
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
    // Safe: what the class is made of. Its own type is generic over schema libraries, which are not ours to name.
    return new options.FunctionTool(definition as never);
  });
}

/** A schema in the words of Gemini's API. */
type GeminiSchema = Record<string, unknown>;

/** Numbers that its API writes as text. */
const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/** Writes a schema that was lowered for Gemini in the words of its API. */
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
