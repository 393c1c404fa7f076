import { isSchemaObject } from "./json-schema/schema-resources.js";
import type { JsonSchemaObject } from "./json-schema.js";

/** Returns a copy of an answer with the form's defaults for the properties that it leaves out. */
export function applyDefaults(
  schema: JsonSchemaObject,
  content: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const filled: [string, unknown][] = Object.entries(content);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(content, name) || !isSchemaObject(property) || property.default === undefined) continue;
    filled.push([name, property.default]);
  }
  // fromEntries defines members, so "__proto__" stays an ordinary member.
  return Object.fromEntries(filled);
}
