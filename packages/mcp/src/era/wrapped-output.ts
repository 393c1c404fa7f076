import { isObject } from "../jsonrpc/message.js";
import { WRAPPED } from "../protocol/meta.js";
import { DATA_KEYWORDS } from "../schema/json-schema/json-schema.js";

type Members = Record<string, unknown>;

/** Keywords whose members are schemas by names of the author's choice. */
const NAMED = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/** Keywords that go to the root of the wrapping schema. */
const MOVED = ["$schema", "$defs", "definitions"];
const HELD = "#/properties/result";

/** Whether an output schema promises objects by itself, as the revisions demand that have structured content for objects only. */
export function promisesObject(schema: unknown): boolean {
  return isObject(schema) && schema["type"] === "object";
}

/** The schema of an object that holds what `schema` describes. Its definitions come along, so that references still resolve. */
export function wrappedSchema(schema: Members): Members {
  const wrapper = { type: "object", required: ["result"] };
  // References in a schema with an id are relative to that id, wherever the schema stands.
  if (Object.hasOwn(schema, "$id")) return { ...wrapper, properties: { result: schema } };
  const moved: Members = {};
  const held: Members = {};
  for (const [key, value] of Object.entries(rebased(schema) as Members)) {
    (MOVED.includes(key) ? moved : held)[key] = value;
  }
  return { ...moved, ...wrapper, properties: { result: held } };
}

/** The result of a tool with its structured content in an object. */
export function wrappedResult(result: Members): Members {
  const meta = isObject(result["_meta"]) ? result["_meta"] : {};
  return { ...result, structuredContent: { result: result["structuredContent"] }, _meta: { ...meta, [WRAPPED]: true } };
}

/** A schema whose references to parts of itself find them one level deeper; definitions stay at the root. */
function rebased(schema: unknown, named = false): unknown {
  if (Array.isArray(schema)) return schema.map((each: unknown) => rebased(each));
  if (!isObject(schema) || (!named && Object.hasOwn(schema, "$id"))) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (named) return [key, rebased(value)];
      if (typeof value === "string" && (key === "$ref" || key === "$dynamicRef")) return [key, rebasedReference(value)];
      return [key, DATA_KEYWORDS.includes(key) ? value : rebased(value, NAMED.includes(key))];
    }),
  );
}

function rebasedReference(reference: string): string {
  if (/^#\/(\$defs|definitions)(\/|$)/.test(reference)) return reference;
  // A fragment without a slash is the name of an anchor, which moving does not change.
  return reference === "#" || reference.startsWith("#/") ? HELD + reference.slice(1) : reference;
}
