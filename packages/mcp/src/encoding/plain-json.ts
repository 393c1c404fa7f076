/**
 * Maximum depth that `isPlainJson` checks, which bounds its recursion. `isPlainJson` returns false for deeper values,
 * and its callers then serialize and parse the value.
 */
const MAX_DEPTH = 128;

/**
 * True if serializing a value as JSON and parsing it would return an equal value: it has no `undefined`, accessors,
 * class instances or `toJSON`. This check is several times cheaper than serializing and parsing.
 */
export function isPlainJson(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return value === null || (depth < MAX_DEPTH && holdsPlainJson(value, depth + 1));
    default:
      return false;
  }
}

function holdsPlainJson(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false;
    // A loop, because `every` would skip holes, which JSON writes as null.
    for (let index = 0; index < value.length; index++) if (!isPlainJson(value[index], depth)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) {
    const member = Object.getOwnPropertyDescriptor(value, key);
    if (member === undefined || member.get !== undefined || !isPlainJson(member.value, depth)) return false;
  }
  return true;
}

/** A part of a value that JSON cannot represent: its JSON pointer, and a description. */
interface LostPart {
  readonly path: string;
  readonly what: string;
}

/**
 * Returns the first part of a value that `JSON.stringify` would silently drop or change, or a cycle, for which it would
 * throw. Returns undefined if there is none. Members that are undefined count as absent.
 */
export function lostInJson(value: unknown, path = "", within: readonly unknown[] = []): LostPart | undefined {
  if (ArrayBuffer.isView(value)) return { path, what: instance(value) };
  if (within.includes(value)) return { path, what: "a cycle" };
  const held = inJson(value);
  if (typeof held === "number") return Number.isFinite(held) ? undefined : { path, what: String(held) };
  if (typeof held !== "object") {
    return typeof held === "string" || typeof held === "boolean" ? undefined : { path, what: ofType(typeof held) };
  }
  if (held === null) return value instanceof Date ? { path, what: "an invalid Date" } : undefined;
  const members: [string, unknown][] = Array.isArray(held)
    ? Array.from(held, (item: unknown, index) => [String(index), item])
    : Object.entries(held).filter(([, member]) => member !== undefined);
  const plain = Array.isArray(held) || Object.getPrototypeOf(held) === Object.prototype;
  if (held instanceof Error || (members.length === 0 && !plain && Object.getPrototypeOf(held) !== null)) {
    return { path, what: instance(held) };
  }
  for (const [key, member] of members) {
    const lost = lostInJson(member, `${path}/${key}`, [...within, value]);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/**
 * Returns the value that `JSON.stringify` writes: the result of `toJSON` if the value has this method, as dates do,
 * otherwise the value itself.
 */
function inJson(value: unknown): unknown {
  const method: unknown = value === null || value === undefined ? undefined : Reflect.get(Object(value), "toJSON");
  return typeof method === "function" ? Reflect.apply(method, value, [""]) : value;
}

function instance(value: object): string {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return ofType(tag === "Object" ? value.constructor.name : tag);
}

const ofType = (type: string) => (type === "undefined" ? type : `a value of type ${type}`);
