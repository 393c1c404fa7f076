import { McpError } from "@parley/mcp/protocol";

/** Maximum number of characters in one string that the page sends. Longer strings are rejected. */
const MAX_TEXT_LENGTH = 16 * 1024 * 1024;
/** Maximum number of items in a list that the page sends. Longer lists are rejected. */
export const MAX_INPUT_ITEMS = 10_000;

/** The input of an action as the page sent it, or a member of it that is an object. */
export type Input = Readonly<Record<string, unknown>>;

/** Reads a string member. Throws `invalid_params` if it is missing, has another type or is too long. */
export function textOf(input: object, name: string): string {
  return optionalTextOf(input, name) ?? missing(name, "a text");
}

/** Reads a string member that may be absent. Throws `invalid_params` if it has another type or is too long. */
export function optionalTextOf(input: object, name: string): string | undefined {
  const value = memberOf(input, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") return wrong(name, value, "a text");
  if (value.length > MAX_TEXT_LENGTH) return tooMuch(name, `${MAX_TEXT_LENGTH} characters`);
  return value;
}

/** Reads an object member. Throws `invalid_params` if it is missing or has another type. */
export function recordOf(input: object, name: string): Input {
  return optionalRecordOf(input, name) ?? missing(name, "an object");
}

/** Reads an object member that may be absent. Throws `invalid_params` for another type. */
export function optionalRecordOf(input: object, name: string): Input | undefined {
  const value = memberOf(input, name);
  return value === undefined || isRecord(value) ? value : wrong(name, value, "an object");
}

/** Reads a member that is an object of strings. Throws `invalid_params` if it is missing or has another type. */
export function textsOf(input: object, name: string): Readonly<Record<string, string>> {
  return optionalTextsOf(input, name) ?? missing(name, "an object of texts");
}

/** Reads a member that is an object of strings and may be absent. Throws `invalid_params` for another type. */
export function optionalTextsOf(input: object, name: string): Readonly<Record<string, string>> | undefined {
  const record = optionalRecordOf(input, name);
  if (record === undefined) return undefined;
  return Object.fromEntries(Object.keys(record).map((key) => [key, textOf(record, key)]));
}

/** Reads a list member. Throws `invalid_params` if it is missing, has another type or is too long. */
export function listOf(input: object, name: string): readonly unknown[] {
  return optionalListOf(input, name) ?? missing(name, "a list");
}

/** Reads a list member that may be absent. Throws `invalid_params` if it has another type or is too long. */
export function optionalListOf(input: object, name: string): readonly unknown[] | undefined {
  const value = memberOf(input, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return wrong(name, value, "a list");
  return value.length > MAX_INPUT_ITEMS ? tooMuch(name, `${MAX_INPUT_ITEMS} items`) : value;
}

/** Reads a boolean member. Throws `invalid_params` if it is missing or has another type. */
export function flagOf(input: object, name: string): boolean {
  return optionalFlagOf(input, name) ?? missing(name, "true or false");
}

/** Reads a boolean member that may be absent. Throws `invalid_params` for another type. */
export function optionalFlagOf(input: object, name: string): boolean | undefined {
  const value = memberOf(input, name);
  return value === undefined || typeof value === "boolean" ? value : wrong(name, value, "true or false");
}

/** Reads a member that is a finite number. Throws `invalid_params` if it is missing or has another type. */
export function numberOf(input: object, name: string): number {
  return optionalNumberOf(input, name) ?? missing(name, "a number");
}

/** Reads a member that is a finite number and may be absent. Throws `invalid_params` for another type. */
export function optionalNumberOf(input: object, name: string): number | undefined {
  const value = memberOf(input, name);
  if (value === undefined || (typeof value === "number" && Number.isFinite(value))) return value;
  return wrong(name, value, "a number");
}

/** Reads a member that is one of `choices`. Throws `invalid_params` if it is missing or another value. */
export function choiceOf<const T extends string>(input: object, name: string, choices: readonly T[]): T {
  return optionalChoiceOf(input, name, choices) ?? missing(name, `one of ${choices.join(", ")}`);
}

/** Reads a member that is one of `choices` and may be absent. Throws `invalid_params` for another value. */
export function optionalChoiceOf<const T extends string>(
  input: object,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = optionalTextOf(input, name);
  if (value === undefined) return undefined;
  return choices.find((choice) => choice === value) ?? wrong(name, value, `one of ${choices.join(", ")}`);
}

/** True if a JSON value is an object. */
export function isRecord(value: unknown): value is Input {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads an own member only, never an inherited one. */
function memberOf(input: object, name: string): unknown {
  // The contract declares types for the inputs, but the page may send any JSON. Only the functions of this module check
  // the types.
  const members: unknown = input;
  if (!isRecord(members)) return wrong("input", members, "an object");
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

function missing(name: string, wanted: string): never {
  throw refusal(`\`${name}\` is missing`, `Send ${wanted} as \`${name}\`.`);
}

function wrong(name: string, value: unknown, wanted: string): never {
  const shown = JSON.stringify(value)?.slice(0, 100) ?? typeof value;
  throw refusal(`\`${name}\` is ${shown}`, `Send ${wanted} as \`${name}\`.`);
}

function tooMuch(name: string, limit: string): never {
  throw refusal(`\`${name}\` has more than ${limit}`, `Send less as \`${name}\`.`);
}

function refusal(message: string, fix: string): McpError {
  return new McpError("invalid_params", message, { fix });
}
