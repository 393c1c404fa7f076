import type { ChangedField, LockDifference } from "./compare-lock.js";
import type { PinnedKind } from "./server-lock.js";

/** Characters that nobody sees, or that change how others are read: controls, marks of direction, zero widths, tags, odd spaces. */
const INVISIBLE =
  /\p{Cc}|\p{Cf}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}|(?! )\p{Zs}|\p{Default_Ignorable_Code_Point}|\u2800|[\u{e0000}-\u{e0fff}]/gu;

/** The text on one line with every character that cannot be seen spelled as `<U+200B>`, for people who compare texts. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** JSON text in which no character is hidden, for people who review it. Line feeds of its layout stay. */
export function visibleJson(json: string): string {
  return json.replace(INVISIBLE, (char) => {
    if (char === "\n") return char;
    // Each half of a pair for itself, as JSON has it.
    const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at).toString(16).padStart(4, "0"));
    return units.map((unit) => `\\u${unit}`).join("");
  });
}

const KIND_NAMES: Readonly<Record<PinnedKind, string>> = {
  server: "server",
  tool: "tool",
  prompt: "prompt",
  resourceTemplate: "resource template",
};
const LONGEST_NAME = 200;
const LONGEST_VALUE = 2_000;
const FIELDS_OF_SUMMARY = 5;

/** What differs, line by line, for people: a heading for each thing, and below it each member before (`-`) and after (`+`). */
export function driftText(differences: readonly LockDifference[]): string {
  return differences.flatMap(linesOf).join("\n");
}

function linesOf(difference: LockDifference): string[] {
  return [heading(difference), ...difference.fields.flatMap(fieldLines)];
}

function heading({ change, kind, name }: LockDifference): string {
  return `${change} ${KIND_NAMES[kind]} "${cut(visibleText(name), LONGEST_NAME)}"`;
}

function fieldLines({ path, before, after }: ChangedField): string[] {
  return [
    `  ${visibleText(path)}`,
    ...(before === undefined ? [] : [`    - ${valueText(before)}`]),
    ...(after === undefined ? [] : [`    + ${valueText(after)}`]),
  ];
}

/** The difference in one sentence, for an error: `the tool "add" changed: description, annotations.readOnlyHint`. */
export function driftSummary({ kind, name, change, fields }: LockDifference): string {
  const what = `the ${KIND_NAMES[kind]} "${cut(visibleText(name), LONGEST_NAME)}"`;
  if (change === "added") return `${what} is not in the lock`;
  if (change === "removed") return `${what} is gone`;
  const paths = fields.slice(0, FIELDS_OF_SUMMARY).map(({ path }) => cut(visibleText(path), LONGEST_NAME));
  const more = fields.length > paths.length ? ` and ${fields.length - paths.length} more` : "";
  return `${what} changed: ${paths.join(", ")}${more}`;
}

function valueText(value: unknown): string {
  return cut(visibleText(typeof value === "string" ? value : (JSON.stringify(value) ?? "")), LONGEST_VALUE);
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more characters)`;
}
