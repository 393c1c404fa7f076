import type { Tool } from "@parley/mcp/protocol";
import { listOf, memberOf, parseJson, resolveSchema, typedValue, typesOf } from "../questions/typed-value.js";
import { UsageError } from "../terminal/usage-error.js";
import type { NamedArgument, ParsedArguments } from "./parse-arguments.js";
import { nameHint } from "./unknown-name.js";

/** Types the arguments of a call by the tool's schema. Throws a `UsageError` for an unknown or invalid argument. */
export function toolArguments(
  { whole, named }: ParsedArguments,
  { name: tool, inputSchema }: Tool,
): Record<string, unknown> {
  const given = new Map(whole === undefined ? [] : Object.entries(wholeObject(whole)));
  const byName = new Map<string, NamedArgument[]>();
  for (const word of named) byName.set(word.name, [...(byName.get(word.name) ?? []), word]);
  for (const [name, words] of byName) {
    checkKnown(name, tool, inputSchema);
    given.set(name, argumentValue(words, memberOf(inputSchema.properties, name), inputSchema));
  }
  // `fromEntries` defines own members, so an argument named "__proto__" is safe.
  return Object.fromEntries(given);
}

/** The required arguments that are missing, in the order of the schema. */
export function missingArguments(args: Readonly<Record<string, unknown>>, { inputSchema }: Tool): readonly string[] {
  return listOf(inputSchema.required).filter(
    (name): name is string => typeof name === "string" && !Object.hasOwn(args, name),
  );
}

/** The error for missing arguments, each with its type and description. */
export function missingError(missing: readonly string[], { name: tool, inputSchema }: Tool): UsageError {
  const lines = missing.map((name) => {
    const schema = resolveSchema(memberOf(inputSchema.properties, name), inputSchema);
    const description = memberOf(schema, "description");
    return `${name}: ${typeWords(schema, inputSchema)}${typeof description === "string" ? `, ${description}` : ""}`;
  });
  const what = missing.length > 1 ? `${missing.length} required arguments` : "a required argument";
  return new UsageError(
    `${tool} is missing ${what}\n${lines.join("\n")}`,
    `Add ${missing.map((name) => `${name}=…`).join(" ")}.`,
  );
}

/** The types of a schema in a few words: `string`, `number or null`, `one of red, green`. */
function typeWords(schema: unknown, root: unknown): string {
  const choices = listOf(memberOf(schema, "enum"));
  if (choices.length > 0) {
    const words = choices.slice(0, 8).map(String);
    return `one of ${words.join(", ")}${choices.length > words.length ? ", …" : ""}`;
  }
  const types = [...typesOf(schema, root)];
  return types.length === 0 ? "any" : types.join(" or ");
}

function wholeObject(text: string): object {
  const parsed = parseJson(text);
  const value = "value" in parsed ? parsed.value : undefined;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  const what = "problem" in parsed ? parsed.problem : "not a JSON object";
  throw new UsageError(`the arguments are ${what}`, 'Write them as {"name": "value"}, or as name=value.');
}

/**
 * Rejects a name that the schema does not have, because it is probably a typo. Accepts any name if the schema allows
 * additional properties.
 */
function checkKnown(name: string, tool: string, schema: Tool["inputSchema"]): void {
  const known = Object.keys(schema.properties ?? {});
  const extra = memberOf(schema, "additionalProperties");
  const open = extra === true || (typeof extra === "object" && extra !== null);
  if (known.includes(name) || open || memberOf(schema, "patternProperties") !== undefined) return;
  const hint = nameHint(name, known) ?? "It takes no arguments.";
  throw new UsageError(`${tool} has no argument "${name}"`, `${hint} To send it anyway, write all arguments as JSON.`);
}

function argumentValue(words: readonly NamedArgument[], property: unknown, root: unknown): unknown {
  const schema = resolveSchema(property, root);
  const [first] = words;
  if (words.length < 2 && first !== undefined) return oneValue(first, schema, root);
  if (!typesOf(schema, root).has("array")) {
    throw new UsageError(
      `the argument "${first?.name}" is given ${words.length} times`,
      "Use it once; only arrays accept several values.",
    );
  }
  return words.map((word) => oneValue(word, memberOf(schema, "items"), root));
}

function oneValue({ name, text, json, bytes }: NamedArgument, schema: unknown, root: unknown): unknown {
  // A schema with this `contentEncoding` expects the bytes of the file as Base64.
  if (bytes !== undefined && !json && memberOf(schema, "contentEncoding") === "base64") return bytes.toString("base64");
  const typed = json ? parseJson(text) : typedValue(text, schema, root);
  if ("value" in typed) return typed.value;
  throw new UsageError(
    `the argument "${name}" is ${typed.problem}`,
    `Correct the value of ${name}; \`parley list <target> --long\` shows the schema.`,
  );
}
