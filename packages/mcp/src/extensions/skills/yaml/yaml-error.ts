/** Text that is not YAML, or YAML that frontmatter has no use for. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  /** Counted from 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** A value that YAML and JSON both have. */
export type YamlValue = string | number | boolean | null | YamlValue[] | { [key: string]: YamlValue };

/** Values inside values; deeper frontmatter is refused. */
const MAX_DEPTH = 16;

/** Throws when values are nested too deeply. */
export function checkDepth(depth: number, line: number): void {
  if (depth > MAX_DEPTH) throw new YamlError(line, `it is nested more than ${MAX_DEPTH} levels deep`);
}

/** Adds a member. Throws for a key that is there already, and for one that would merge others. */
export function addMember(map: { [key: string]: YamlValue }, key: string, value: YamlValue, line: number): void {
  if (key === "<<") throw new YamlError(line, "merge keys (`<<`) are not supported");
  if (Object.hasOwn(map, key)) throw new YamlError(line, `the key "${key}" stands there twice`);
  // An assignment to `__proto__` would change the object's prototype.
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}
