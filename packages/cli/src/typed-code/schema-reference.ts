/** A JSON Schema: `true`, `false` or an object of keywords. */
export type SchemaObject = Readonly<Record<string, unknown>>;

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A part of a schema that others refer to. */
export interface ReferencedSchema {
  /** The place in the root, which is the same however it was written. */
  readonly pointer: string;
  /** A word for its name: the last part of the place. */
  readonly word: string;
  readonly schema: unknown;
}

/** Steps of one reference; nobody writes as many. */
const MAX_POINTER_STEPS = 32;

/** What `$ref` names inside `root`; undefined for references to elsewhere, to anchors, and to nothing. */
export function resolveReference(root: unknown, reference: unknown): ReferencedSchema | undefined {
  if (typeof reference !== "string" || (reference !== "#" && !reference.startsWith("#/"))) return undefined;
  const parts = reference
    .split("/")
    .slice(1, MAX_POINTER_STEPS + 1)
    .map(pointerPart);
  let schema = root;
  for (const part of parts) {
    if (typeof schema !== "object" || schema === null || part === undefined || !Object.hasOwn(schema, part))
      return undefined;
    // An own member of an object or an array, as checked above.
    schema = (schema as Record<string, unknown>)[part];
  }
  if (reference.split("/").length > MAX_POINTER_STEPS + 1) return undefined;
  return { pointer: JSON.stringify(parts), word: parts.at(-1) ?? "", schema };
}

function pointerPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
