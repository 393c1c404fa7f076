import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { isObject } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { CallToolResult } from "../protocol/features/tools.js";
import { adaptTools, type SchemaRules, type ToolSource } from "./adapted-tools.js";
import { type ResultPart, resultParts, textOfResult } from "./result-parts.js";

/** Options for frameworks that support several providers. */
export interface FrameworkToolsOptions {
  /** The provider whose schema rules apply. Default: `any`, because the framework adapts schemas itself. */
  schemas?: SchemaRules | undefined;
}

/** A tool's arguments as a Standard Schema. */
export interface AiSdkSchema {
  /**
   * The validator and the JSON Schema, as defined by Standard Schema. The validator only checks for an object; the
   * server validates the rest.
   */
  readonly "~standard": StandardSchemaV1.Props<unknown, Record<string, unknown>> & StandardJSONSchemaV1.Props;
}

/** The part of a result that the AI SDK passes to the model. */
export type AiSdkOutput =
  | {
      /** A result that consists of text alone. */
      type: "text";
      /** All text of the result, one block per line. */
      value: string;
    }
  | {
      /** A tool that failed. */
      type: "error-text";
      /** The tool's error message. */
      value: string;
    }
  | {
      /** A result with images, audio or files. */
      type: "content";
      /** The blocks of the result in order. Binary data is Base64. */
      value: (
        | { type: "text"; text: string }
        | { type: "image-data"; data: string; mediaType: string }
        | { type: "file-data"; data: string; mediaType: string }
      )[];
    };

/** A tool of the Vercel AI SDK. */
export interface AiSdkTool {
  /** The tool's description; its title or name if the server gave none. */
  description: string;
  /** The title for people. Absent if the server gave none. */
  title?: string;
  /** The arguments, adapted by the option `schemas`. */
  inputSchema: AiSdkSchema;
  /** Calls the tool. Rejects with `tool_error` if the tool failed. */
  execute(input: Record<string, unknown>, options?: { abortSignal?: AbortSignal | undefined }): Promise<CallToolResult>;
  /** Converts the result of `execute` for the model. */
  toModelOutput(result: { output: CallToolResult }): AiSdkOutput;
}

/**
 * Adapts the tools of a client or a host to the Vercel AI SDK, for `tools` of `generateText`, `streamText` and agents.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/adapters.md | Agent frameworks}
 */
export async function toAiSdkTools(
  source: ToolSource,
  options: FrameworkToolsOptions = {},
): Promise<Record<string, AiSdkTool>> {
  checkOptions("toAiSdkTools", options, "schemas");
  const adapted = await adaptTools(source, options.schemas ?? "any");
  const tools = adapted.list.map(({ name, description, arguments: { schema }, tool }): [string, AiSdkTool] => [
    name,
    {
      description,
      ...(tool.title === undefined ? {} : { title: tool.title }),
      inputSchema: schemaOf(schema),
      execute: async (input, { abortSignal } = {}) => {
        const result = await adapted.call(name, input, { signal: abortSignal });
        if (result.isError === true) throw new McpError("tool_error", textOfResult(result));
        return result;
      },
      toModelOutput: ({ output }) => outputOf(output),
    },
  ]);
  return Object.fromEntries(tools);
}

/** Brand of AI SDK schemas. The SDK adds `additionalProperties: false` to schemas without this brand. */
const AI_SDK_SCHEMA = Symbol.for("vercel.ai.schema");

function schemaOf(jsonSchema: Record<string, unknown>): AiSdkSchema {
  const copy = () => structuredClone(jsonSchema);
  const own = {
    [AI_SDK_SCHEMA]: true,
    _type: undefined,
    jsonSchema,
    validate: (value: unknown) =>
      isObject(value)
        ? { success: true, value }
        : { success: false, error: new McpError("invalid_params", NOT_AN_OBJECT) },
  };
  return {
    ...own,
    "~standard": {
      version: 1,
      vendor: "parley",
      validate: (value) => (isObject(value) ? { value } : { issues: [{ message: NOT_AN_OBJECT }] }),
      jsonSchema: { input: copy, output: copy },
    },
  };
}

const NOT_AN_OBJECT = "the arguments are not an object";

function outputOf(result: CallToolResult): AiSdkOutput {
  if (result.isError === true) return { type: "error-text", value: textOfResult(result) };
  const parts = resultParts(result);
  if (parts.every(({ type }) => type === "text")) return { type: "text", value: textOfResult(result) };
  return { type: "content", value: parts.map(contentOf) };
}

function contentOf(part: ResultPart): Extract<AiSdkOutput, { type: "content" }>["value"][number] {
  if (part.type === "text") return part;
  const { data, mimeType } = part;
  return { type: part.type === "image" ? "image-data" : "file-data", data, mediaType: mimeType };
}
