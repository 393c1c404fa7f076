import { canonicalJson } from "../encoding/canonical-json.js";
import { isObject } from "../jsonrpc/message.js";
import { LISTED_KINDS, type ListedKind, type PinnedItem, type PinnedKind, type ServerLock } from "./server-lock.js";

/** One member that differs. Absent values are `undefined`. */
export interface ChangedField {
  /** Where it is, such as `inputSchema.properties.city.description`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** One thing of a server that is not as its lock pinned it. */
export interface LockDifference {
  readonly kind: PinnedKind;
  /** The name of the tool or prompt, the URI template, or the name of the server. */
  readonly name: string;
  readonly change: "added" | "removed" | "changed";
  /** What differs; of something added or removed, all that it says. At most 100. */
  readonly fields: readonly ChangedField[];
}

/** Everything in which a server differs from its lock; empty if nothing does. */
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

/** The pin of this name; names are the server's choice, and may be those of inherited members. */
export function ownItem(items: Readonly<Record<string, PinnedItem>>, name: string): PinnedItem | undefined {
  return Object.hasOwn(items, name) ? items[name] : undefined;
}

/** How one pin differs from another; undefined if it does not. */
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
  // The name is the heading of one that came or went.
  const key = kind === "server" ? "name" : LISTED_KINDS[kind].key;
  return { kind, name, change, fields: change === "changed" ? fields : fields.filter(({ path }) => path !== key) };
}

const MOST_FIELDS = 100;
/** Deeper parts are compared as a whole. */
const DEEPEST = 200;

function addChanges(found: ChangedField[], path: readonly string[], before: unknown, after: unknown): void {
  if (found.length >= MOST_FIELDS || canonicalJson(before) === canonicalJson(after)) return;
  // What is only on one side is told by its members at the top, and as a whole below.
  const both = isObject(before) && isObject(after);
  const atTop = path.length === 0 && (isObject(before) || isObject(after));
  if ((!both && !atTop) || path.length > DEEPEST) {
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
