import { joinPointer } from "./json-pointer.js";
import { SchemaError } from "./schema-error.js";

/** How large a schema may be. */
export interface SchemaSize {
  readonly schemaNodes: number;
  readonly schemaDepth: number;
}

/**
 * Copies a schema as plain frozen JSON, so that what was checked at registration stays what is published and used.
 *
 * Throws `too_complex` past the limits (a cyclic object reaches the depth limit) and `invalid_schema` for a value that
 * JSON cannot carry. Members that are `undefined` are left out, as `JSON.stringify` would.
 */
export function snapshot(schema: unknown, size: SchemaSize): unknown {
  let nodes = 0;

  function copy(value: unknown, path: string, depth: number): unknown {
    if (++nodes > size.schemaNodes) throw tooLarge(`has more than ${size.schemaNodes} values`, "limits.schemaNodes");
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value !== "object") {
      throw new SchemaError("invalid_schema", `A schema holds JSON values only, not ${describe(value)}.`, { path });
    }
    if (depth >= size.schemaDepth) {
      throw tooLarge(`is nested deeper than ${size.schemaDepth} levels`, "limits.schemaDepth");
    }
    if (Array.isArray(value)) return Object.freeze(value.map((item, i) => copy(item, joinPointer(path, i), depth + 1)));
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    // fromEntries defines members, so that one named "__proto__" stays an ordinary member.
    return Object.freeze(
      Object.fromEntries(entries.map(([key, member]) => [key, copy(member, joinPointer(path, key), depth + 1)])),
    );
  }

  return copy(schema, "", 0);
}

function tooLarge(what: string, option: string): SchemaError {
  return new SchemaError(
    "too_complex",
    `Schema too complex: it ${what}; simplify it or raise the schema option ${option}.`,
  );
}

function describe(value: unknown): string {
  return typeof value === "number" ? String(value) : `a ${typeof value}`;
}
