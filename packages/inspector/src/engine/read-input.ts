import { McpError } from "@parley/mcp/protocol";

/** Characters of a text that the page may send as one member. */
const MOST_INPUT_TEXT = 16 * 1024 * 1024;
/** Items of a list that the page may send. */
export const MOST_INPUT_ITEMS = 10_000;

/** What the page sent as the input of an action, or a member of it that is an object. */
export type Input = Readonly<Record<string, unknown>>;

/** A member that is a text. Throws `invalid_params` where it is none. */
export function textOf(input: object, name: string): string {
  return optionalTextOf(input, name) ?? missing(name, "a text");
}

/** A member that is a text or absent. Throws `invalid_params` for anything else. */
export function optionalTextOf(input: object, name: string): string | undefined {
  const value = memberOf(input, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") return wrong(name, value, "a text");
  if (value.length > MOST_INPUT_TEXT) return tooMuch(name, `${MOST_INPUT_TEXT} characters`);
  return value;
}

/** A member that is an object. Throws `invalid_params` where it is none. */
export function recordOf(input: object, name: string): Input {
  return optionalRecordOf(input, name) ?? missing(name, "an object");
}

/** A member that is an object or absent. Throws `invalid_params` for anything else. */
export function optionalRecordOf(input: object, name: string): Input | undefined {
  const value = memberOf(input, name);
  return value === undefined || isRecord(value) ? value : wrong(name, value, "an object");
}

/** A member that is an object whose members are texts. Throws `invalid_params` where it is none. */
export function textsOf(input: object, name: string): Readonly<Record<string, string>> {
  return optionalTextsOf(input, name) ?? missing(name, "an object of texts");
}

/** A member that is an object whose members are texts, or absent. Throws `invalid_params` for anything else. */
export function optionalTextsOf(input: object, name: string): Readonly<Record<string, string>> | undefined {
  const record = optionalRecordOf(input, name);
  if (record === undefined) return undefined;
  return Object.fromEntries(Object.keys(record).map((key) => [key, textOf(record, key)]));
}

/** A member that is a list. Throws `invalid_params` where it is none. */
export function listOf(input: object, name: string): readonly unknown[] {
  return optionalListOf(input, name) ?? missing(name, "a list");
}

/** A member that is a list or absent. Throws `invalid_params` for anything else. */
export function optionalListOf(input: object, name: string): readonly unknown[] | undefined {
  const value = memberOf(input, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return wrong(name, value, "a list");
  return value.length > MOST_INPUT_ITEMS ? tooMuch(name, `${MOST_INPUT_ITEMS} items`) : value;
}

/** A member that is true or false. Throws `invalid_params` where it is neither. */
export function flagOf(input: object, name: string): boolean {
  return optionalFlagOf(input, name) ?? missing(name, "true or false");
}

/** A member that is true, false or absent. Throws `invalid_params` for anything else. */
export function optionalFlagOf(input: object, name: string): boolean | undefined {
  const value = memberOf(input, name);
  return value === undefined || typeof value === "boolean" ? value : wrong(name, value, "true or false");
}

/** A member that is a finite number. Throws `invalid_params` where it is none. */
export function numberOf(input: object, name: string): number {
  return optionalNumberOf(input, name) ?? missing(name, "a number");
}

/** A member that is a finite number or absent. Throws `invalid_params` for anything else. */
export function optionalNumberOf(input: object, name: string): number | undefined {
  const value = memberOf(input, name);
  if (value === undefined || (typeof value === "number" && Number.isFinite(value))) return value;
  return wrong(name, value, "a number");
}

/** A member that is one of these texts. Throws `invalid_params` where it is none of them. */
export function choiceOf<const T extends string>(input: object, name: string, choices: readonly T[]): T {
  return optionalChoiceOf(input, name, choices) ?? missing(name, `one of ${choices.join(", ")}`);
}

/** A member that is one of these texts or absent. Throws `invalid_params` for anything else. */
export function optionalChoiceOf<const T extends string>(
  input: object,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = optionalTextOf(input, name);
  if (value === undefined) return undefined;
  return choices.find((choice) => choice === value) ?? wrong(name, value, `one of ${choices.join(", ")}`);
}

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Input {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Only what the page sent itself counts, never what every object inherits. */
function memberOf(input: object, name: string): unknown {
  // Inputs are typed by the contract, but what comes from the page is only checked here.
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
