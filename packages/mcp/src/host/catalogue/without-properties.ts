import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { Tool } from "../../protocol/features/tools.js";
import { joinPointer } from "../../schema/json-schema/json-pointer.js";
import { compileValidator } from "../../schema/json-schema/validate.js";

/** Keywords that apply schemas to the same object, so that they may name the same properties. */
const LISTS = ["allOf", "anyOf", "oneOf"];
const SINGLE = ["if", "then", "else", "not"];
const MOST_NESTED = 32;

/**
 * A schema of arguments without some of them, also where a part of it mentions them again. What other arguments must be then is
 * as if these were there and valid; the server still checks the whole. Throws `misuse` if the schema refers to one of them.
 */
export function withoutProperties(schema: Tool["inputSchema"], names: readonly string[]): Tool["inputSchema"] {
  if (names.length === 0) return schema;
  const text = JSON.stringify(schema);
  const referred = names.find((name) => text.includes(JSON.stringify(joinPointer("#/properties", name)).slice(0, -1)));
  if (referred !== undefined) {
    throw new McpError("misuse", `"${referred}" cannot be hidden: the schema refers to it by \`$ref\``, {
      fix: "Return a schema without that reference.",
    });
  }
  // Safe: `type` stays as it is.
  return strip(schema, new Set(names), 0) as Tool["inputSchema"];
}

function strip(schema: Record<string, unknown>, names: ReadonlySet<string>, depth: number): Record<string, unknown> {
  if (depth > MOST_NESTED) throw new McpError("misuse", `the schema is nested deeper than ${MOST_NESTED} levels`);
  const result = { ...schema };
  const inside = (part: unknown) => (isObject(part) ? strip(part, names, depth + 1) : part);
  const members = (part: unknown, change: (value: unknown) => unknown) =>
    isObject(part)
      ? Object.fromEntries(
          Object.entries(part)
            .filter(([name]) => !names.has(name))
            .map(([name, value]) => [name, change(value)]),
        )
      : part;
  const without = (list: unknown) =>
    Array.isArray(list) ? list.filter((name: unknown) => typeof name !== "string" || !names.has(name)) : list;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties") result[keyword] = members(value, (same) => same);
    else if (keyword === "required") result[keyword] = without(value);
    else if (keyword === "dependentRequired") result[keyword] = members(value, without);
    else if (keyword === "dependentSchemas") result[keyword] = members(value, inside);
    else if (LISTS.includes(keyword) && Array.isArray(value)) result[keyword] = value.map(inside);
    else if (SINGLE.includes(keyword)) result[keyword] = inside(value);
  }
  return result;
}

/** Throws `misuse` if a value is not one that the tool accepts for its argument. */
export function checkFixedValues(schema: Record<string, unknown>, fixed: Readonly<Record<string, unknown>>): void {
  if (Object.keys(fixed).length === 0) return;
  const { $schema, $defs, definitions, properties } = schema;
  const own = Object.entries(Object(properties)).filter(([name]) => Object.hasOwn(fixed, name));
  const part = { $schema, $defs, definitions, properties: Object.fromEntries(own) };
  const result = compileValidator(part).validate(fixed);
  if (result.valid) return;
  const [first] = result.errors;
  throw new McpError("misuse", `the fixed value at ${first?.path} is not valid: ${first?.message}`, {
    fix: "Fix a value that the tool accepts.",
  });
}
