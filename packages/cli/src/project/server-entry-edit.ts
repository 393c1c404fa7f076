import { isDeepStrictEqual } from "node:util";
import { type Node, type ParseError, parseTree } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { UsageError } from "../terminal/usage-error.js";

/** The list of servers in the file of an application. */
export interface ServerList {
  readonly path: string;
  readonly format: "json" | "toml";
  /** The member that holds the servers. */
  readonly container: string;
}

type Entry = Record<string, unknown>;

/** Returns the entry of a server, or undefined. Throws a `UsageError` for a text that cannot be parsed. */
export function entryIn(text: string, list: ServerList, name: string): Entry | undefined {
  const entries = serversOf(parsed(text, list), list);
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
  return isObject(entry) ? entry : undefined;
}

/**
 * Returns the text with the entry added or replaced. The bytes and the meaning of all other content stay the same.
 * Throws a `UsageError` if such an edit is impossible.
 */
export function withEntry(text: string, list: ServerList, name: string, entry: Entry): string {
  const [mark, body] = withoutMark(text);
  const before = parsed(body, list);
  const edited =
    list.format === "json"
      ? setJsonMember(body, list.container, name, entry)
      : addTomlTable(removeTomlTable(body, list.container, name), list.container, name, entry);
  verify(edited, list, { ...before, [list.container]: { ...serversOf(before, list), [name]: entry } });
  return mark + edited;
}

/**
 * Returns the text without the entry, with the same guarantees as `withEntry`. `backup` is the text before the last
 * change by this program.
 */
export function withoutEntry(text: string, list: ServerList, name: string, backup?: string): string {
  const entry = entryIn(text, list, name);
  if (entry === undefined) return text;
  // If adding the entry was the only change since the backup, return the backup, which restores even the white space.
  if (backup !== undefined && isBackupWithEntry(backup, list, name, entry, text)) return backup;
  const [mark, body] = withoutMark(text);
  const before = parsed(body, list);
  const edited =
    list.format === "json" ? removeJsonMember(body, list.container, name) : removeTomlTable(body, list.container, name);
  const { [name]: _gone, ...rest } = serversOf(before, list);
  verify(edited, list, { ...before, [list.container]: rest });
  return mark + edited;
}

/** True if the text is empty or, for JSON, contains at most an empty list of servers and no comments. */
export function isEmptyConfig(text: string, { container, format }: ServerList): boolean {
  const rest = withoutMark(text)[1].replace(/\s+/g, "");
  return rest === "" || (format === "json" && (rest === "{}" || rest === `{${JSON.stringify(container)}:{}}`));
}

function isBackupWithEntry(backup: string, list: ServerList, name: string, entry: Entry, text: string): boolean {
  try {
    return entryIn(backup, list, name) === undefined && withEntry(backup, list, name, entry) === text;
  } catch {
    return false;
  }
}

function verify(edited: string, list: ServerList, wanted: Entry): void {
  if (parsesTo(edited, list, wanted)) return;
  throw new UsageError(`${list.path} cannot be edited safely`, "Edit it manually; --dry-run --json shows the entry.");
}

function parsesTo(edited: string, list: ServerList, wanted: Entry): boolean {
  try {
    const present = parsed(edited, list);
    return isDeepStrictEqual(plain({ ...present, [list.container]: serversOf(present, list) }), plain(wanted));
  } catch {
    // The edited text is invalid. For example, TOML does not allow a `[table]` below an inline table.
    return false;
  }
}

/** Removes the prototypes and classes of TOML values, so that they can be compared with plain objects. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function parsed(text: string, { path, format }: ServerList): Entry {
  if (text.trim() === "") return {};
  const value = format === "json" ? jsonOf(text, path) : tomlOf(text, path);
  if (isObject(value)) return value;
  throw new UsageError(`${path} does not contain an object`, "Correct the file; nothing was changed.");
}

function jsonOf(text: string, path: string): unknown {
  const errors: ParseError[] = [];
  const tree = parseTree(withoutMark(text)[1], errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error === undefined && tree !== undefined) return nodeValue(tree);
  const line = text.slice(0, error?.offset).split("\n").length;
  throw new UsageError(`${path} is not valid JSON at line ${line}`, "Correct the file; nothing was changed.");
}

/** Returns the value of a syntax tree. Unlike the parser's own function, treats `__proto__` as an ordinary member. */
function nodeValue(node: Node): unknown {
  const { type, children = [], value } = node;
  if (type === "array") return children.map(nodeValue);
  if (type !== "object") return value;
  return Object.fromEntries(
    children.flatMap(({ children: [name, member] = [] }) =>
      name === undefined || member === undefined ? [] : [[String(name.value), nodeValue(member)] as const],
    ),
  );
}

function tomlOf(text: string, path: string): unknown {
  try {
    return parseToml(withoutMark(text)[1]);
  } catch (reason) {
    const [why = ""] = String(reason instanceof Error ? reason.message : reason).split("\n");
    throw new UsageError(`${path} is not valid TOML: ${why}`, "Correct the file; nothing was changed.");
  }
}

function serversOf(config: Entry, { container, path }: ServerList): Entry {
  const servers = config[container] ?? {};
  if (isObject(servers)) return servers;
  throw new UsageError(`\`${container}\` of ${path} is not an object`, "Correct the file; nothing was changed.");
}

/** Splits off a byte order mark. */
function withoutMark(text: string): [string, string] {
  return text.startsWith("\uFEFF") ? ["\uFEFF", text.slice(1)] : ["", text];
}

function isObject(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Appends a table `[container.name]` to a TOML text. Everything else keeps its bytes. */
function addTomlTable(text: string, container: string, name: string, value: Record<string, unknown>): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [`[${container}.${keyText(name)}]`];
  for (const [key, member] of Object.entries(value)) lines.push(`${keyText(key)} = ${tomlValue(member)}`);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  return `${text}${gap}${lines.join(eol)}${eol}`;
}

/**
 * Removes the tables `[container.name]` and `[container.name.…]` from a TOML text. Comments before other tables stay.
 */
function removeTomlTable(text: string, container: string, name: string): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let inside = false;
  let loose: string[] = [];
  for (const line of lines) {
    const header = HEADER.exec(line)?.[1];
    if (header !== undefined) inside = isTable(keysOf(header), container, name);
    // Also removes the empty line before the table.
    if (inside && header !== undefined && /^\s*$/.test(kept.at(-1) ?? "x")) kept.pop();
    if (!inside) {
      kept.push(...loose, line);
      loose = [];
    } else if (/^\s*(?:#|$)/.test(line)) loose.push(line);
    else loose = [];
  }
  return [...kept, ...loose].join("");
}

const HEADER = /^[ \t]*\[\[?([^\]]+)\]\]?[ \t]*(?:#.*)?\r?\n?$/;
const KEY = /"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+/g;

function keysOf(header: string): string[] {
  return [...header.matchAll(KEY)].map(([key]) => (/^["']/.test(key) ? key.slice(1, -1) : key));
}

function isTable([first, second]: readonly string[], container: string, name: string): boolean {
  return first === container && second === name;
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${keyText(key)} = ${tomlValue(member)}`)
    .join(", ")} }`;
}

/** A replacement of a part of a text. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Sets a member of an object in a JSON text, and creates the object if it is missing. Everything else keeps its bytes.
 */
function setJsonMember(text: string, container: string, name: string, value: unknown): string {
  const source = text.trim() === "" ? "{}\n" : text;
  const root = objectTree(source);
  const holder = memberOf(root, container)?.children?.[1];
  if (holder === undefined) return applied(source, insertion(source, root, container, { [name]: value }));
  const present = memberOf(holder, name)?.children?.[1];
  if (present === undefined) return applied(source, insertion(source, holder, name, value));
  const layout = layoutOf(source, holder);
  const written = layout.multiline ? valueText(value, indentAt(source, present.offset), layout) : JSON.stringify(value);
  return applied(source, [{ from: present.offset, to: present.offset + present.length, text: written }]);
}

/** Removes a member of an object from a JSON text. Comments stay. */
function removeJsonMember(text: string, container: string, name: string): string {
  const holder = memberOf(objectTree(text), container)?.children?.[1];
  const members = holder?.children ?? [];
  const at = members.findIndex((member) => nameOf(member) === name);
  const member = members[at];
  if (holder === undefined || member === undefined) return text;
  const before = members[at - 1];
  const start = before === undefined ? holder.offset + 1 : endOf(before);
  const end = endOf(member);
  const left = tokensIn(text, start, member.offset);
  const right = tokensIn(text, end, members[at + 1]?.offset ?? endOf(holder) - 1);
  const edits: Edit[] = [{ from: left.end, to: end, text: "" }];
  if (right.comma !== undefined) edits.push({ from: right.comma, to: right.comma + 1, text: "" });
  else if (left.comma !== undefined) edits.push({ from: left.comma, to: left.comma + 1, text: "" });
  const result = applied(text, edits);
  if (members.length > 1) return result;
  // The object is empty now. Unless a comment is left in it, remove its white space, which was probably inserted with
  // the first member.
  const close = endOf(holder) - 1 - (text.length - result.length);
  const inside = result.slice(holder.offset + 1, close);
  return inside.trim() === "" ? `${result.slice(0, holder.offset + 1)}${result.slice(close)}` : result;
}

function insertion(text: string, holder: Node, name: string, value: unknown): Edit[] {
  const layout = layoutOf(text, holder);
  const last = holder.children?.at(-1);
  const start = last === undefined ? holder.offset + 1 : endOf(last);
  const close = endOf(holder) - 1;
  const { end, comma } = tokensIn(text, start, close);
  const { multiline, eol, indent } = layout;
  let written = `${JSON.stringify(name)}:${multiline ? ` ${valueText(value, indent, layout)}` : JSON.stringify(value)}`;
  if (multiline) written = `${eol}${indent}${written}`;
  if (comma !== undefined) written += ",";
  if (multiline && last === undefined && !text.slice(end, close).includes("\n"))
    written += `${eol}${indentAt(text, holder.offset)}`;
  const separator: Edit[] = last !== undefined && comma === undefined ? [{ from: start, to: start, text: "," }] : [];
  return [...separator, { from: end, to: end, text: written }];
}

interface Layout {
  readonly multiline: boolean;
  readonly eol: string;
  /** The indentation of the object's members. */
  readonly indent: string;
  /** One further level of indentation. */
  readonly unit: string;
}

function layoutOf(text: string, holder: Node): Layout {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const own = indentAt(text, holder.offset);
  const [first] = holder.children ?? [];
  const leads = first !== undefined && /(?:^|\n)[ \t]*$/.test(text.slice(0, first.offset));
  const inside = text.slice(holder.offset, endOf(holder));
  const multiline = first === undefined ? text.trim().includes("\n") || text.trim() === "{}" : inside.includes("\n");
  return { multiline, eol, unit, indent: leads ? indentAt(text, first.offset) : `${own}${unit}` };
}

function valueText(value: unknown, indent: string, { eol, unit }: Layout): string {
  return JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`);
}

/** The white space at the beginning of the line that contains `at`. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/**
 * Finds the end of the last comment or comma in a part of a text, and the position of the last comma. Both are offsets
 * in the whole text.
 */
function tokensIn(
  text: string,
  from: number,
  to: number,
): { readonly end: number; readonly comma: number | undefined } {
  let [end, comma]: [number, number | undefined] = [from, undefined];
  for (const found of text.slice(from, to).matchAll(BETWEEN)) {
    const at = from + found.index;
    if (found[0] === ",") comma = at;
    end = at + found[0].length;
  }
  return { end, comma };
}

/** The tokens between members: comments and commas. */
const BETWEEN = /\/\/[^\r\n]*|\/\*.*?\*\/|,/gs;

function applied(text: string, edits: readonly Edit[]): string {
  let result = text;
  // Applies the edits from the end of the text, so that the offsets of the remaining edits stay valid. Of two edits at
  // one offset, the later one is applied first, so that its text follows the text of the other.
  for (const { from, to, text: by } of [...edits].reverse().sort((a, b) => b.from - a.from))
    result = result.slice(0, from) + by + result.slice(to);
  return result;
}

function objectTree(text: string): Node {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (tree?.type === "object") return tree;
  throw new Error("the text is not a JSON object");
}

function memberOf(object: Node, name: string): Node | undefined {
  return object.children?.find((member) => nameOf(member) === name);
}

function nameOf(member: Node): unknown {
  return member.children?.[0]?.value;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}
