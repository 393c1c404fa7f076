/** The object form of a JSON Schema. */
export type SchemaObject = Readonly<Record<string, unknown>>;

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schema that a reference points to. */
export interface ReferencedSchema {
  /** The path of the schema within the root, as a JSON array. */
  readonly pointer: string;
  /** The last part of the path, as the basis for a name. */
  readonly word: string;
  readonly schema: unknown;
}

/** Maximum number of steps in one reference. Longer references are not resolved. */
const MAX_POINTER_STEPS = 32;

/**
 * Resolves a `$ref` inside `root`. Returns undefined for a reference to another document, to an anchor or to a missing
 * part, and for one with more than `MAX_POINTER_STEPS` steps.
 */
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
    // Safe: `part` is an own member of an object or array, as checked above.
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
