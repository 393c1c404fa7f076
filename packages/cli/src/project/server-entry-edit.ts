import { isDeepStrictEqual } from "node:util";
import { type Node, type ParseError, parseTree } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { UsageError } from "../terminal/usage-error.js";
import { removeJsonMember, setJsonMember } from "./json-member-edit.js";
import { addTomlTable, removeTomlTable } from "./toml-table-edit.js";

/** A place for servers in the file of an application. */
export interface ServerList {
  readonly path: string;
  readonly format: "json" | "toml";
  /** The member that holds the servers. */
  readonly container: string;
}

type Entry = Record<string, unknown>;

/** The entry of a server in the text of a file; undefined if it has none. Throws a `UsageError` for a text that cannot be read. */
export function entryIn(text: string, list: ServerList, name: string): Entry | undefined {
  const entries = serversOf(parsed(text, list), list);
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
  return isObject(entry) ? entry : undefined;
}

/** The text with the entry. Everything else keeps its bytes and its meaning, or a `UsageError` is thrown. */
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

/** The text without the entry, under the same conditions. `backup` is what the file was before its last change here. */
export function withoutEntry(text: string, list: ServerList, name: string, backup?: string): string {
  const entry = entryIn(text, list, name);
  if (entry === undefined) return text;
  // Where nothing else has changed since, the file becomes what it was, to the last space.
  if (backup !== undefined && addsUpTo(backup, list, name, entry, text)) return backup;
  const [mark, body] = withoutMark(text);
  const before = parsed(body, list);
  const edited =
    list.format === "json" ? removeJsonMember(body, list.container, name) : removeTomlTable(body, list.container, name);
  const { [name]: _gone, ...rest } = serversOf(before, list);
  verify(edited, list, { ...before, [list.container]: rest });
  return mark + edited;
}

/** Whether a text has nothing but an empty list of servers: no comment, no other member. */
export function holdsNothing(text: string, { container, format }: ServerList): boolean {
  const rest = withoutMark(text)[1].replace(/\s+/g, "");
  return rest === "" || (format === "json" && (rest === "{}" || rest === `{${JSON.stringify(container)}:{}}`));
}

function addsUpTo(backup: string, list: ServerList, name: string, entry: Entry, text: string): boolean {
  try {
    return entryIn(backup, list, name) === undefined && withEntry(backup, list, name, entry) === text;
  } catch {
    return false;
  }
}

function verify(edited: string, list: ServerList, wanted: Entry): void {
  if (means(edited, list, wanted)) return;
  throw new UsageError(
    `${list.path} is written in a way that cannot be changed safely`,
    "Change it by hand; --dry-run --json shows the entry.",
  );
}

function means(edited: string, list: ServerList, wanted: Entry): boolean {
  try {
    const present = parsed(edited, list);
    return isDeepStrictEqual(plain({ ...present, [list.container]: serversOf(present, list) }), plain(wanted));
  } catch {
    // A table that was written in one line cannot get another one below it.
    return false;
  }
}

/** Values of TOML have prototypes and classes of their own. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function parsed(text: string, { path, format }: ServerList): Entry {
  if (text.trim() === "") return {};
  const value = format === "json" ? jsonOf(text, path) : tomlOf(text, path);
  if (isObject(value)) return value;
  throw new UsageError(`${path} holds no object`, "Correct the file; nothing was changed.");
}

function jsonOf(text: string, path: string): unknown {
  const errors: ParseError[] = [];
  const tree = parseTree(withoutMark(text)[1], errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error === undefined && tree !== undefined) return nodeValue(tree);
  const line = text.slice(0, error?.offset).split("\n").length;
  throw new UsageError(`${path} is not valid JSON in line ${line}`, "Correct the file; nothing was changed.");
}

/** The value of a tree; the parser's own makes a prototype of `__proto__`. */
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
    throw new UsageError(`${path} is not TOML: ${why}`, "Correct the file; nothing was changed.");
  }
}

function serversOf(config: Entry, { container, path }: ServerList): Entry {
  const servers = config[container] ?? {};
  if (isObject(servers)) return servers;
  throw new UsageError(`\`${container}\` of ${path} is no object`, "Correct the file; nothing was changed.");
}

/** A byte order mark is no part of the text. */
function withoutMark(text: string): [string, string] {
  return text.startsWith("\uFEFF") ? ["\uFEFF", text.slice(1)] : ["", text];
}

function isObject(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
