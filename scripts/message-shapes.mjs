// Writes the shapes of messages that the inspector holds every message to, from the published schemas.
//
// One table per revision, each only with what differs from the revision before; `shape-notation.ts` reads them. Only facts are
// taken (names of members, their types and limits), none of the schemas' prose.
//
// Usage: node scripts/message-shapes.mjs <folder with one folder per revision> [folder to write to]
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const TABLES = fileURLToPath(new URL("../packages/inspector/src/validation/shapes", import.meta.url));
const WIDTH = 120;

/** Every value that came as JSON is one of these; written out they would recurse without end. */
const JSON_TYPES = { JSONValue: "unknown", JSONObject: "object", JSONArray: "unknown[]" };
const FORMATS = { uri: "uri", "uri-template": "uriTemplate", byte: "base64" };
const ANNOTATIONS = new Set(["description", "title", "default", "deprecated", "$comment", "examples"]);

/** What the notation can say of each type. */
const KNOWN = {
  none: [],
  list: ["type"],
  null: ["type"],
  boolean: ["type", "const"],
  string: ["type", "const", "enum", "format"],
  number: ["type", "const", "minimum", "maximum"],
  integer: ["type", "const", "minimum", "maximum"],
  array: ["type", "items", "maxItems"],
  object: ["type", "properties", "required", "additionalProperties"],
};

const [schemas, tables = TABLES] = process.argv.slice(2);
if (schemas === undefined) {
  console.error("usage: node scripts/message-shapes.mjs <folder of schemas> [folder to write to]");
  process.exit(2);
}
let before = new Map();
for (const [index, revision] of REVISIONS.entries()) {
  const shapes = readShapes(join(schemas, revision, "schema.json"));
  writeFileSync(join(tables, `shapes-${revision}.ts`), tableOf(revision, REVISIONS[index - 1], before, shapes));
  before = shapes;
}

/** The notation of each definition, by name. */
function readShapes(path) {
  const document = JSON.parse(readFileSync(path, "utf8"));
  const shapes = new Map();
  for (const [name, definition] of Object.entries(document.$defs ?? document.definitions)) {
    shapes.set(name, JSON_TYPES[name] ?? notationOf(definition, `${path} ${name}`));
  }
  return shapes;
}

function notationOf(schema, where) {
  const { $ref, type, const: only, enum: choices, anyOf, allOf } = checked(schema, where);
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf("/") + 1);
  if (anyOf !== undefined) return anyOf.map((each) => notationOf(each, where)).join(" | ");
  if (allOf !== undefined) return allOf.map((each) => grouped(each, where)).join(" & ");
  if (only !== undefined) return JSON.stringify(only);
  if (choices !== undefined) return choices.map((each) => JSON.stringify(each)).join(" | ");
  // Where a union holds `number`, the published files say `integer`, though the TypeScript that they are made from does not.
  if (Array.isArray(type)) {
    return type.map((each) => (each === "integer" && type.includes("boolean") ? "number" : each)).join(" | ");
  }
  if (type === "array") return arrayNotation(schema, where);
  if (type === "object") return objectNotation(schema, where);
  if (type === "string") return FORMATS[schema.format] ?? "string";
  if (type === undefined) return "unknown";
  const { minimum, maximum } = schema;
  return minimum === undefined && maximum === undefined ? type : `${type}<${minimum ?? ""}..${maximum ?? ""}>`;
}

function arrayNotation({ items = {}, maxItems = "" }, where) {
  return `${grouped(items, where)}[${maxItems}]`;
}

function grouped(schema, where) {
  const several = schema.anyOf ?? schema.allOf ?? schema.enum ?? (Array.isArray(schema.type) || undefined);
  return several === undefined ? notationOf(schema, where) : `(${notationOf(schema, where)})`;
}

function objectNotation({ properties = {}, required = [], additionalProperties = {} }, where) {
  const members = Object.entries(properties).map(([key, schema]) => {
    const name = /^[\w$]+$/.test(key) ? key : JSON.stringify(key);
    return `${name}${required.includes(key) ? "" : "?"}: ${notationOf(schema, `${where}.${key}`)}`;
  });
  const rest = notationOf(additionalProperties, `${where}.*`);
  if (rest !== "unknown") members.push(`*: ${rest}`);
  return members.length === 0 ? "object" : `{ ${members.join("; ")} }`;
}

/** The schema, unless it says something that the notation cannot. */
function checked(schema, where) {
  const keys = Object.keys(schema).filter((key) => !ANNOTATIONS.has(key));
  const alone = ["$ref", "anyOf", "allOf"].find((key) => keys.includes(key));
  const known = alone === undefined ? KNOWN[Array.isArray(schema.type) ? "list" : (schema.type ?? "none")] : [alone];
  const strange = keys.filter((key) => !known?.includes(key));
  const missing = (schema.required ?? []).filter((key) => schema.properties?.[key] === undefined);
  if (strange.length > 0 || missing.length > 0 || schema.additionalProperties === false) {
    throw new Error(`${where}: the notation has no words for ${[...strange, ...missing].join(", ")}`);
  }
  return schema;
}

function tableOf(revision, earlier, old, shapes) {
  const lines = [...old.keys()].filter((name) => !shapes.has(name)).map((name) => `${name} -`);
  for (const [name, shape] of shapes) if (old.get(name) !== shape) lines.push(...wrapped(`${name} = ${shape}`));
  const purpose =
    earlier === undefined
      ? `The definitions of ${revision}, in the notation of \`parseShape\`.`
      : `The definitions that ${revision} adds, changes or removes (\`-\`) relative to ${earlier}.`;
  return [
    "// Written by scripts/message-shapes.mjs.",
    `/** ${purpose} */`,
    `export const SHAPES_${revision.replaceAll("-", "_")} = \``,
    ...lines,
    "`;",
    "",
  ].join("\n");
}

/** Breaks a line after a member or a part of a union; what goes on is indented. */
function wrapped(line) {
  const lines = [];
  let rest = line;
  while (rest.length > WIDTH) {
    const at = Math.max(rest.lastIndexOf("; ", WIDTH - 1), rest.lastIndexOf("| ", WIDTH - 1)) + 1;
    lines.push(rest.slice(0, at));
    rest = `  ${rest.slice(at + 1)}`;
  }
  return [...lines, rest];
}
