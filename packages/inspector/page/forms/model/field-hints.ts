import type { SchemaObject } from "./merge-schemas.js";

/**
 * Maximum number of displayed examples, and of characters per example. Further examples are omitted, and longer
 * examples are truncated.
 */
const MAX_EXAMPLES = 5;
const MAX_EXAMPLE_LENGTH = 80;

/** Formats that only ask for several lines. They need no hint, because the field then has several lines. */
const LINES: readonly string[] = ["textarea", "multiline"];

/** The constraints of a schema besides its type, each in a few words. */
export function fieldHints(schema: SchemaObject): readonly string[] {
  const number = (keyword: string) => {
    const value = schema[keyword];
    return typeof value === "number" ? value : undefined;
  };
  return [
    ...rangeOf(number("minLength"), number("maxLength"), "characters"),
    ...rangeOf(number("minItems"), number("maxItems"), "items"),
    ...rangeOf(number("minProperties"), number("maxProperties"), "members"),
    ...rangeOf(number("minimum"), number("maximum"), ""),
    ...words("above", number("exclusiveMinimum")),
    ...words("below", number("exclusiveMaximum")),
    ...words("a multiple of", number("multipleOf")),
    ...(LINES.includes(String(schema["format"])) ? [] : words("format", schema["format"])),
    ...words("pattern", schema["pattern"]),
    ...words("content of type", schema["contentMediaType"]),
    ...(schema["uniqueItems"] === true ? ["unique items"] : []),
    ...(schema["readOnly"] === true ? ["read only"] : []),
    ...requiredSets(schema),
    ...examplesOf(schema["examples"] ?? schema["example"]),
  ];
}

function rangeOf(least: number | undefined, most: number | undefined, of: string): string[] {
  const unit = (count: number) => (of === "" ? "" : ` ${count === 1 ? of.slice(0, -1) : of}`);
  if (least !== undefined && least === most) return [`exactly ${least}${unit(least)}`];
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit(most)}`];
  if (least !== undefined && (least !== 0 || of === "")) return [`at least ${least}${unit(least)}`];
  return most === undefined ? [] : [`at most ${most}${unit(most)}`];
}

function words(before: string, value: unknown): string[] {
  return typeof value === "string" || typeof value === "number" ? [`${before} ${value}`] : [];
}

/** Describes alternatives that only require members: `anyOf: [{ required: ["a"] }, { required: ["b"] }]`. */
function requiredSets(schema: SchemaObject): string[] {
  const either: unknown = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(either) || !either.every(onlyRequiresMembers)) return [];
  const sets = either.map((each) => ((each as SchemaObject)["required"] as string[]).join(" and "));
  return [`${schema["oneOf"] === undefined ? "at least" : "exactly"} one of: ${sets.join(" | ")}`];
}

/** True if an alternative only requires members. */
export function onlyRequiresMembers(alternative: unknown): boolean {
  if (typeof alternative !== "object" || alternative === null) return false;
  const { required, title: _title, description: _description, type: _type, ...rest } = alternative as SchemaObject;
  return (
    Array.isArray(required) && required.every((name) => typeof name === "string") && Object.keys(rest).length === 0
  );
}

function examplesOf(value: unknown): string[] {
  const examples: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  if (examples.length === 0) return [];
  const shown = examples.slice(0, MAX_EXAMPLES).map((each) => {
    const text = JSON.stringify(each) ?? "";
    return text.length > MAX_EXAMPLE_LENGTH ? `${text.slice(0, MAX_EXAMPLE_LENGTH)}…` : text;
  });
  return [`for example ${shown.join(", ")}`];
}
