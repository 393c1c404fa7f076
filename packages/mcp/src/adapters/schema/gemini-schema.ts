import { isObject } from "../../jsonrpc/message.js";
import type { SchemaNode } from "./merge-schemas.js";

/** A schema in the words of Gemini's API. */
export interface GeminiSchema {
  type?: string;
  description?: string;
  nullable?: boolean;
  format?: string;
  pattern?: string;
  enum?: string[];
  properties?: Record<string, GeminiSchema>;
  required?: string[];
  propertyOrdering?: string[];
  items?: GeminiSchema;
  anyOf?: GeminiSchema[];
  minimum?: number;
  maximum?: number;
  minItems?: string;
  maxItems?: string;
  minLength?: string;
  maxLength?: string;
  minProperties?: string;
  maxProperties?: string;
}

/** Numbers that its API writes as text. */
const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/** Writes a schema that was lowered for Gemini in the words of its API. */
export function geminiSchema(schema: SchemaNode): GeminiSchema {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "type") Object.assign(result, typed(value));
    else if (keyword === "anyOf" && Array.isArray(value)) Object.assign(result, choices(value));
    else if (keyword === "enum" && Array.isArray(value)) result["enum"] = value.filter((one) => one !== null);
    else if (keyword === "items" && isObject(value)) result["items"] = geminiSchema(value);
    else if (keyword === "properties" && isObject(value)) {
      const entries = Object.entries(value).map(
        ([name, inside]) => [name, geminiSchema(inside as SchemaNode)] as const,
      );
      result["properties"] = Object.fromEntries(entries);
    } else result[keyword] = COUNTS.includes(keyword) ? String(value) : value;
  }
  return result;
}

function typed(type: unknown): GeminiSchema {
  const names = [type].flat().map((name) => String(name).toUpperCase());
  const [first = "NULL"] = names.filter((name) => name !== "NULL");
  return { type: first, ...(names.length > 1 && names.includes("NULL") ? { nullable: true } : {}) };
}

function choices(branches: readonly SchemaNode[]): GeminiSchema {
  const isNull = ({ type }: SchemaNode) => type === "null";
  const others = branches.filter((branch) => !isNull(branch)).map(geminiSchema);
  const nullable = others.length < branches.length ? { nullable: true } : {};
  const [only] = others;
  return others.length === 1 && only !== undefined ? { ...only, ...nullable } : { anyOf: others, ...nullable };
}
