import { joinPointer } from "./json-pointer.js";
import { SchemaError } from "./schema-error.js";

/** Limits on the size of a schema. */
export interface SchemaSize {
  /** Maximum number of JSON values in the schema. */
  readonly schemaNodes: number;
  /** Maximum nesting of the schema. */
  readonly schemaDepth: number;
}

/**
 * Copies a schema as plain frozen JSON, so that later changes to the original affect neither validation nor listings.
 *
 * Throws `too_complex` beyond the limits (a cyclic object reaches the depth limit), and `invalid_schema` for a value
 * that JSON cannot represent. Omits members that are `undefined`, as `JSON.stringify` does.
 */
export function snapshot(schema: unknown, size: SchemaSize): unknown {
  let nodes = 0;

  function copy(value: unknown, path: string, depth: number): unknown {
    if (++nodes > size.schemaNodes) throw tooLarge(`has more than ${size.schemaNodes} values`);
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value !== "object") {
      throw new SchemaError("invalid_schema", `A schema must contain only JSON values, not ${describe(value)}.`, {
        path,
      });
    }
    if (depth >= size.schemaDepth) {
      throw tooLarge(`is nested deeper than ${size.schemaDepth} levels`);
    }
    if (Array.isArray(value)) return Object.freeze(value.map((item, i) => copy(item, `${path}/${i}`, depth + 1)));
    return copyMembers(value, path, depth);
  }

  function copyMembers(value: object, path: string, depth: number): unknown {
    const members: Record<string, unknown> = {};
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      // Safe: `key` is an enumerable member of the value.
      const member = (value as Readonly<Record<string, unknown>>)[key];
      if (member === undefined) continue;
      const copied = copy(member, joinPointer(path, key), depth + 1);
      // Assignment would set the prototype for a member named "__proto__".
      if (key === "__proto__") Object.defineProperty(members, key, { value: copied, enumerable: true });
      else members[key] = copied;
    }
    return Object.freeze(members);
  }

  return copy(schema, "", 0);
}

function tooLarge(what: string): SchemaError {
  return new SchemaError("too_complex", `Schema too complex: it ${what}; simplify it.`);
}

function describe(value: unknown): string {
  return typeof value === "number" ? String(value) : `a ${typeof value}`;
}
