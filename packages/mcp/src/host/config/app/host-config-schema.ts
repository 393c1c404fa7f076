import { type Field, type FieldKind, SERVER_FIELDS } from "../server-fields.js";
import { groupOf, isSwitch, SETTINGS, type Setting } from "./settings.js";

type JsonSchema = Readonly<Record<string, unknown>>;

const TEXT: JsonSchema = { type: "string" };
const TEXTS: JsonSchema = { type: "array", items: TEXT, maxItems: 1000 };

/** The schemas of the kinds of fields. */
const KINDS: Readonly<Record<Extract<FieldKind, string>, JsonSchema>> = {
  text: TEXT,
  texts: TEXTS,
  "text map": { type: "object", additionalProperties: TEXT, maxProperties: 1000 },
  flag: { type: "boolean" },
  "flag or texts": { anyOf: [{ type: "boolean" }, TEXTS] },
  "text or false": { anyOf: [TEXT, { const: false }] },
  count: { type: "integer", minimum: 1 },
  rate: { type: "number", exclusiveMinimum: 0 },
};

function schemaOf({ kind, description }: Field): JsonSchema {
  if (typeof kind === "string") return { ...KINDS[kind], description };
  if (Array.isArray(kind)) return { enum: kind, description };
  // Safe: a kind that is neither a string nor an array is a table.
  return { ...objectOf(kind as Readonly<Record<string, Field>>), description };
}

function objectOf(fields: Readonly<Record<string, Field>>): JsonSchema {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]));
  return { type: "object", properties, additionalProperties: false };
}

/** The schemas of the kinds of settings. */
const SETTING_KINDS: Readonly<Record<Extract<Setting, string>, JsonSchema>> = {
  flag: KINDS.flag,
  "flag or auto": { enum: [true, false, "auto"] },
  count: KINDS.count,
  whole: { type: "integer", minimum: 0 },
  number: { type: "number", minimum: 0 },
  text: TEXT,
  texts: { type: "array", items: TEXT },
  "text or texts": { anyOf: [TEXT, { type: "array", items: TEXT }] },
  "text or false": KINDS["text or false"],
  "text map": { type: "object", additionalProperties: TEXT },
};

function schemaOfSetting(setting: Setting): JsonSchema {
  if (typeof setting === "string") return SETTING_KINDS[setting];
  const group = groupOf(setting);
  if (group === undefined) return { enum: setting };
  if (isSwitch(setting)) return { anyOf: [{ const: false }, schemaOfSetting(group)] };
  const properties = Object.entries(group).map(([name, member]) => [name, schemaOfSetting(member)]);
  return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
}

/**
 * Returns the JSON Schema of `parley.config.json`, for editors: servers in our own form, and the settings that
 * `loadConfig` reads. It is built from the same tables as the readers. It leaves out the fields of other applications,
 * which `readServers` also accepts.
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 * import { hostConfigSchema } from "@parley/mcp/config";
 *
 * writeFileSync("parley.schema.json", JSON.stringify(hostConfigSchema(), undefined, 2));
 * ```
 */
export function hostConfigSchema(): JsonSchema {
  const server = { ...objectOf(SERVER_FIELDS), anyOf: [{ required: ["command"] }, { required: ["url"] }] };
  const sections = Object.entries(SETTINGS).map(([name, setting]) => [name, schemaOfSetting(setting)]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Parley configuration",
    type: "object",
    properties: {
      $schema: TEXT,
      ...Object.fromEntries(sections),
      servers: {
        type: "object",
        additionalProperties: server,
        description: "The servers of a host, by name.",
        maxProperties: 1000,
      },
      inputs: {
        type: "array",
        items: { type: "object", required: ["id"] },
        description: "Values that the user is asked for.",
      },
    },
    additionalProperties: false,
  };
}
