/** Deeper values are treated as anything else: their text decides. */
const MAX_DEPTH = 128;

/**
 * True when JSON keeps a value exactly as it is: no `undefined`, no accessors, no classes, nothing with a `toJSON`. Several
 * times cheaper than writing and reading the value to see what is left of it.
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
    // Not `every`, which leaves out holes.
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
