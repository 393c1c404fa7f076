import { SchemaError, type SchemaErrorCode } from "../schema/json-schema/schema-error.js";
import { compileParser, type Parser, type ParserOptions } from "../schema/parse.js";
import type { AnySchema } from "../schema/standard.js";
import { McpError } from "./error.js";

/** Fixes for codes that are covered neither by the message nor by the default `fix` of `invalid_schema`. */
const FIXES: Readonly<Partial<Record<SchemaErrorCode, string>>> = {
  unresolved_ref: "Define the referenced schema under `$defs`.",
  unsupported_pattern: "Write the pattern without back-references and look-around, or check the value in the handler.",
  conversion_unavailable: "Set the server's option `toJsonSchema` to the function that the message names.",
  conversion_failed: "Use only types that JSON has, or pass a JSON Schema.",
};

/**
 * Compiles a schema from a definition. Throws `invalid_schema`, with the code and the path in `data`, if the schema is
 * not usable.
 */
export function compileSchema(schema: AnySchema, options: ParserOptions): Parser {
  try {
    return compileParser(schema, options);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const { code, path, message } = error;
    throw new McpError("invalid_schema", message, { cause: error, data: { code, path }, fix: FIXES[code] });
  }
}
