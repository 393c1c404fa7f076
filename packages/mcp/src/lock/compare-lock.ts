import { canonicalJson } from "../encoding/canonical-json.js";
import { isObject } from "../jsonrpc/message.js";
import { LISTED_KINDS, type ListedKind, type PinnedItem, type PinnedKind, type ServerLock } from "./server-lock.js";

/** A member of a definition that differs. */
export interface ChangedField {
  /** The path of the member, such as `inputSchema.properties.city.description`. */
  readonly path: string;
  /** The pinned value; undefined if the member was added. */
  readonly before: unknown;
  /** The current value; undefined if the member was removed. */
  readonly after: unknown;
}

/** A difference between a server and its lock. */
export interface LockDifference {
  /** The kind of the definition that differs. */
  readonly kind: PinnedKind;
  /** The name of the tool or prompt, the URI template, or the name of the server. */
  readonly name: string;
  /** The change of the definition since it was pinned. */
  readonly change: "added" | "removed" | "changed";
  /** The members that differ, or all members of an added or removed definition. At most 100. */
  readonly fields: readonly ChangedField[];
}

/**
 * Lists all differences between a lock and the current offers of the server; empty if there are none.
 *
 * @example
 * ```ts
 * import { compareLock, type ServerLock } from "@parley/mcp/lock";
 *
 * function report(approved: ServerLock, current: ServerLock) {
 *   for (const difference of compareLock(approved, current)) console.warn(difference);
 * }
 * ```
 */
export function compareLock(lock: ServerLock, current: ServerLock): LockDifference[] {
  const name = String(lock.server.definition["name"] ?? current.server.definition["name"] ?? "");
  const kinds = Object.keys(LISTED_KINDS) as ListedKind[];
  const listed = kinds.flatMap((kind) => {
    const { member } = LISTED_KINDS[kind];
    const [before, after] = [lock[member], current[member]];
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.map((one) => compareItem(kind, one, ownItem(before, one), ownItem(after, one)));
  });
  return [compareItem("server", name, lock.server, current.server), ...listed].filter((one) => one !== undefined);
}

/**
 * The pinned item with this name. Ignores inherited members: the server chooses the name, which could be that of an
 * inherited member such as `constructor`.
 */
export function ownItem(items: Readonly<Record<string, PinnedItem>>, name: string): PinnedItem | undefined {
  return Object.hasOwn(items, name) ? items[name] : undefined;
}

/** The difference between two pinned items; undefined if there is none. */
export function compareItem(
  kind: PinnedKind,
  name: string,
  before: PinnedItem | undefined,
  after: PinnedItem | undefined,
): LockDifference | undefined {
  if (before?.digest === after?.digest) return undefined;
  const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const fields: ChangedField[] = [];
  addChanges(fields, [], before?.definition, after?.definition);
  // The heading of an added or removed item already contains its name, so the name is not listed again.
  const key = kind === "server" ? "name" : LISTED_KINDS[kind].key;
  return { kind, name, change, fields: change === "changed" ? fields : fields.filter(({ path }) => path !== key) };
}

const MAX_FIELDS = 100;
/** Maximum nesting that is compared member by member. Deeper values are listed as a whole. */
const MAX_DEPTH = 200;

function addChanges(found: ChangedField[], path: readonly string[], before: unknown, after: unknown): void {
  if (found.length >= MAX_FIELDS || canonicalJson(before) === canonicalJson(after)) return;
  // Two objects are compared member by member, and an added or removed definition is listed member by member. All other
  // values are listed as a whole.
  const both = isObject(before) && isObject(after);
  const atTop = path.length === 0 && (isObject(before) || isObject(after));
  if ((!both && !atTop) || path.length > MAX_DEPTH) {
    found.push({ path: path.map(pathPart).join("."), before, after });
    return;
  }
  const [old, now] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  for (const key of [...new Set([...Object.keys(old), ...Object.keys(now)])].sort()) {
    addChanges(found, [...path, key], own(old, key), own(now, key));
  }
}

function own(members: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

function pathPart(key: string): string {
  return /^[\w$-]+$/.test(key) ? key : JSON.stringify(key);
}

/**
 * Invisible characters, and characters that change how others are read: control characters, direction marks, zero-width
 * characters, tags, unusual spaces.
 */
const INVISIBLE =
  /\p{Cc}|\p{Cf}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}|(?! )\p{Zs}|\p{Default_Ignorable_Code_Point}|\u2800|[\u{e0000}-\u{e0fff}]/gu;

/**
 * Returns the text on one line, with every invisible character escaped as `<U+200B>`, for people who compare texts.
 *
 * @example
 * ```ts
 * import { visibleText } from "@parley/mcp/lock";
 *
 * visibleText("add\u200b numbers"); // "add<U+200B> numbers"
 * ```
 */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** Escapes the invisible characters of JSON text, for people who review it. Keeps the line feeds of its layout. */
export function visibleJson(json: string): string {
  return json.replace(INVISIBLE, (char) => {
    if (char === "\n") return char;
    // JSON escapes each half of a surrogate pair separately.
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
const MAX_NAME_LENGTH = 200;
const MAX_VALUE_LENGTH = 2_000;
const MAX_SUMMARY_FIELDS = 5;

/**
 * Formats differences for people: a heading for each definition, and below it each member before (`-`) and after (`+`).
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/locking-tools.md | Locking tools}
 */
export function driftText(differences: readonly LockDifference[]): string {
  return differences.flatMap(linesOf).join("\n");
}

function linesOf(difference: LockDifference): string[] {
  return [heading(difference), ...difference.fields.flatMap(fieldLines)];
}

function heading({ change, kind, name }: LockDifference): string {
  return `${change} ${KIND_NAMES[kind]} "${cut(visibleText(name), MAX_NAME_LENGTH)}"`;
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
  const what = `the ${KIND_NAMES[kind]} "${cut(visibleText(name), MAX_NAME_LENGTH)}"`;
  if (change === "added") return `${what} is not in the lock`;
  if (change === "removed") return `${what} is gone`;
  const paths = fields.slice(0, MAX_SUMMARY_FIELDS).map(({ path }) => cut(visibleText(path), MAX_NAME_LENGTH));
  const more = fields.length > paths.length ? ` and ${fields.length - paths.length} more` : "";
  return `${what} changed: ${paths.join(", ")}${more}`;
}

function valueText(value: unknown): string {
  return cut(visibleText(typeof value === "string" ? value : (JSON.stringify(value) ?? "")), MAX_VALUE_LENGTH);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
