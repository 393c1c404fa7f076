import { thrownMessage } from "../encoding/thrown-message.js";
import { isObject } from "../jsonrpc/message.js";
import type { Tool } from "../protocol/features/tools.js";
import { compileValidator } from "../schema/json-schema/validate.js";
import { SchemaError } from "../schema/schema-error.js";
import type { LintRule, Problem } from "./lint-rule.js";
import { schemasOf } from "./tool-texts.js";

/** Rules about the schemas of arguments and results. */
export const SCHEMA_RULES: readonly LintRule[] = [
  {
    id: "schema-invalid",
    severity: "error",
    summary: "A schema is not valid JSON Schema, refers to something outside of it, or does not describe an object.",
    *each(tool) {
      const { inputSchema } = tool;
      if (!isObject(inputSchema) || inputSchema["type"] !== "object") {
        const fix = 'Write `"type": "object"`: arguments are always an object.';
        yield { path: "inputSchema", message: "the schema of the arguments is not of type `object`", fix };
      }
      yield* faults(tool, (code) => code !== "unsupported_pattern");
    },
  },
  {
    id: "schema-pattern",
    severity: "warning",
    summary: "A `pattern` cannot be checked in linear time, so that clients refuse it or can be kept busy by it.",
    *each(tool) {
      yield* faults(tool, (code) => code === "unsupported_pattern");
    },
  },
  {
    id: "array-without-items",
    severity: "error",
    summary:
      "A list does not say what it holds; OpenAI, Gemini and VS Code refuse the tool, and some all tools with it.",
    *each(tool) {
      for (const { path, schema } of schemasOf(tool)) {
        if (!path.startsWith("inputSchema") || ![schema["type"]].flat().includes("array")) continue;
        if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) continue;
        const fix = 'Add `items`, such as `{ "type": "string" }`.';
        yield { path, message: "the list has no `items`", fix };
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
