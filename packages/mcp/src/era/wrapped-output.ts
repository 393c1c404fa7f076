import { isObject } from "../jsonrpc/message.js";
import { WRAPPED_KEY } from "../protocol/meta.js";
import { DATA_KEYWORDS } from "../schema/json-schema/json-schema.js";

type Members = Record<string, unknown>;

/** Keywords whose value is an object that contains schemas under names chosen by the author. */
const SCHEMA_MAPS = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/** Keywords that move to the root of the wrapping schema. */
const ROOT_KEYWORDS = ["$schema", "$defs", "definitions"];
const RESULT_POINTER = "#/properties/result";

/** True if an output schema guarantees an object. Some revisions allow only objects as structured content. */
export function promisesObject(schema: unknown): boolean {
  return isObject(schema) && schema["type"] === "object";
}

/**
 * The schema of an object whose `result` matches `schema`. Definitions move to the root, so that references still
 * resolve.
 */
export function wrappedSchema(schema: Members): Members {
  const wrapper = { type: "object", required: ["result"] };
  // References in a schema with an id are relative to that id, so the position of the schema does not matter.
  if (Object.hasOwn(schema, "$id")) return { ...wrapper, properties: { result: schema } };
  const moved: Members = {};
  const held: Members = {};
  for (const [key, value] of Object.entries(rebased(schema) as Members)) {
    (ROOT_KEYWORDS.includes(key) ? moved : held)[key] = value;
  }
  return { ...moved, ...wrapper, properties: { result: held } };
}

/** The result of a tool with its structured content wrapped in an object. */
export function wrappedResult(result: Members): Members {
  const meta = isObject(result["_meta"]) ? result["_meta"] : {};
  return {
    ...result,
    structuredContent: { result: result["structuredContent"] },
    _meta: { ...meta, [WRAPPED_KEY]: true },
  };
}

/**
 * Adjusts references within a schema, because the schema moves to `#/properties/result`. References to definitions
 * stay, because definitions move to the root.
 */
function rebased(schema: unknown, named = false): unknown {
  if (Array.isArray(schema)) return schema.map((each: unknown) => rebased(each));
  if (!isObject(schema) || (!named && Object.hasOwn(schema, "$id"))) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (named) return [key, rebased(value)];
      if (typeof value === "string" && (key === "$ref" || key === "$dynamicRef")) return [key, rebasedReference(value)];
      return [key, DATA_KEYWORDS.includes(key) ? value : rebased(value, SCHEMA_MAPS.includes(key))];
    }),
  );
}

function rebasedReference(reference: string): string {
  if (/^#\/(\$defs|definitions)(\/|$)/.test(reference)) return reference;
  // A fragment without a slash names an anchor, which stays valid after the move.
  return reference === "#" || reference.startsWith("#/") ? RESULT_POINTER + reference.slice(1) : reference;
}
