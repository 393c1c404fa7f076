import { type LoweredArguments, lowerArguments, openArguments } from "../adapters/schema/lower-arguments.js";
import { GEMINI, OPENAI_STRICT } from "../adapters/schema/schema-dialect.js";
import { thrownMessage } from "../encoding/thrown-message.js";
import { isObject } from "../jsonrpc/message.js";
import type { Tool } from "../protocol/features/tools.js";
import { SchemaError } from "../schema/json-schema/schema-error.js";
import { compileValidator } from "../schema/json-schema/validate.js";
import { type LintRule, type Problem, schemasOf } from "./lint-rule.js";

/** Rules about the schemas of arguments and results. */
export const SCHEMA_RULES: readonly LintRule[] = [
  {
    id: "schema-invalid",
    severity: "error",
    summary: "A schema is not valid JSON Schema, has external references, or does not describe an object.",
    *each(tool) {
      const { inputSchema } = tool;
      if (!isObject(inputSchema) || inputSchema["type"] !== "object") {
        const fix = 'Write `"type": "object"`: arguments are always an object.';
        yield { path: "inputSchema", message: "the input schema is not of type `object`", fix };
      }
      yield* faults(tool, (code) => code !== "unsupported_pattern");
    },
  },
  {
    id: "schema-pattern",
    severity: "warning",
    summary: "A `pattern` cannot be checked in linear time, so clients reject it or can be slowed down by it.",
    *each(tool) {
      yield* faults(tool, (code) => code === "unsupported_pattern");
    },
  },
  {
    id: "array-without-items",
    severity: "error",
    summary:
      "An array does not declare its items: OpenAI, Gemini and VS Code reject the tool, some even all tools of the server.",
    *each(tool) {
      for (const { path, schema } of schemasOf(tool)) {
        if (!path.startsWith("inputSchema") || ![schema["type"]].flat().includes("array")) continue;
        if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) continue;
        const fix = 'Add `items`, such as `{ "type": "string" }`.';
        yield { path, message: "the array has no `items`", fix };
      }
    },
  },
];

function* faults(tool: Tool, matters: (code: string) => boolean): Iterable<Problem> {
  for (const [name, schema] of Object.entries({ inputSchema: tool.inputSchema, outputSchema: tool.outputSchema })) {
    if (schema === undefined) continue;
    const fault = faultOf(schema);
    if (fault === undefined || !matters(fault.code)) continue;
    yield { path: `${name}${fault.path.replaceAll("/", ".")}`, message: fault.message, fix: "Correct the schema." };
  }
}

function faultOf(schema: unknown): { code: string; path: string; message: string } | undefined {
  try {
    compileValidator(schema);
    return undefined;
  } catch (error) {
    if (error instanceof SchemaError) return error;
    return { code: "invalid_schema", path: "", message: thrownMessage(error) };
  }
}

type Lower = (schema: Tool["inputSchema"]) => LoweredArguments;

/** Maximum number of tools that VS Code and OpenAI accept in one request. */
const MAX_TOOLS = 128;
/** Maximum number of schema parts that one finding lists. */
const MAX_PARTS = 5;

/** Rules about schema parts that a provider does not support. The adapters of this library omit the same parts. */
export const PROVIDER_RULES: readonly LintRule[] = [
  lossRule("provider-openai-strict", "OpenAI in strict mode", (schema) => lowerArguments(schema, OPENAI_STRICT)),
  lossRule("provider-openai", "OpenAI", openArguments),
  lossRule("provider-anthropic", "Anthropic", openArguments),
  lossRule("provider-gemini", "Gemini", (schema) => lowerArguments(schema, GEMINI)),
  {
    id: "provider-vscode",
    severity: "warning",
    summary: `The server has more than ${MAX_TOOLS} tools, the limit of VS Code and OpenAI for one request.`,
    *all({ tools }) {
      if (tools.length <= MAX_TOOLS) return;
      yield {
        message: `there are ${tools.length} tools; VS Code and OpenAI accept at most ${MAX_TOOLS} in one request`,
        fix: "Split the server, or let models search for tools.",
      };
    },
  },
];

function lossRule(id: string, provider: string, lower: Lower): LintRule {
  return {
    id,
    severity: "note",
    summary: `${provider} does not support a part of the schema: the model does not see it, but the server still checks it.`,
    *each({ inputSchema }) {
      if (!isObject(inputSchema)) return;
      const parts = lower(inputSchema).lost;
      if (parts.length === 0) return;
      const more = parts.length > MAX_PARTS ? `; and ${parts.length - MAX_PARTS} more` : "";
      yield {
        path: "inputSchema",
        message: `${provider} does not see this part of the schema: ${parts.slice(0, MAX_PARTS).join("; ")}${more}`,
        fix: "State it in the description, or express it with plain types, `enum` and `items`.",
      };
    },
  };
}
