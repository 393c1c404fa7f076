import { type ModuleNames, typeName } from "./module-names.js";
import { isSchemaObject, resolveReference, type SchemaObject } from "./schema-reference.js";
import { docComment, memberName, stringLiteral } from "./source-literal.js";
import {
  arrayOf,
  intersectionOf,
  NEVER,
  optionalElement,
  type TypeExpression,
  UNKNOWN,
  unionOf,
  unit,
} from "./type-expression.js";

/** Maximum nesting of schemas. More deeply nested schemas become `unknown`. */
const MAX_DEPTH = 24;
/** Maximum number of subschemas in one declared schema; further ones become `unknown`. */
const MAX_SCHEMAS = 4_000;
/**
 * Maximum number of nested `#declare` calls, for schemas that reference each other. Beyond it, declarations are queued.
 */
const MAX_NESTING = 8;
const MAX_DEFAULT_LENGTH = 80;
const OPEN = unit("{ [key: string]: unknown }");

/** The position of a type in the generated code. */
interface TypePosition {
  /** The declaration that contains the type. */
  readonly owner: string;
  readonly depth: number;
  readonly indent: string;
  /**
   * True if only unions and intersections lie between the type and its declaration. A reference back to the declaration
   * would then be a circular type, which the compiler rejects.
   */
  readonly bare: boolean;
}

/** Declares the type `name` for a schema, and further types for the schemas that it references. */
export function declareSchema(name: string, schema: unknown, names: ModuleNames): string {
  return new SchemaDeclaration(name, schema, names).text();
}

class SchemaDeclaration {
  readonly #root: unknown;
  readonly #names: ModuleNames;
  readonly #rootName: string;
  /** Names of the root and of referenced schemas, keyed by path. The path of the root is empty. */
  readonly #named = new Map<string, string>();
  readonly #bodies = new Map<string, TypeExpression>();
  readonly #queue: [name: string, schema: unknown][] = [];
  /**
   * For each declaration, the declarations that it references outside of any member or element, that is, where a cycle
   * would be an error. The graph has no cycles.
   */
  readonly #alternatives = new Map<string, Set<string>>();
  #schemas = 0;
  #nesting = 0;

  constructor(name: string, schema: unknown, names: ModuleNames) {
    this.#root = schema;
    this.#names = names;
    this.#rootName = name;
    this.#named.set("[]", name);
  }

  text(): string {
    this.#queue.push([this.#rootName, this.#root]);
    // `#declare` can queue further referenced schemas. The loop ends, because a schema has finitely many locations and
    // each is declared once.
    for (const [name, schema] of this.#queue) this.#declare(name, schema);
    return [...this.#bodies].map(([name, { text }]) => `export type ${name} = ${text};\n`).join("");
  }

  #declare(name: string, schema: unknown): void {
    if (this.#bodies.has(name)) return;
    if (this.#nesting >= MAX_NESTING) return void this.#queue.push([name, schema]);
    this.#nesting++;
    // Placeholder until the type is known, because a reference back to this declaration reads the placeholder's width.
    this.#bodies.set(name, unit("unknown", widthOf(schema)));
    this.#bodies.set(name, this.#type(schema, { owner: name, depth: 0, indent: "", bare: true }));
    this.#nesting--;
  }

  #type(schema: unknown, place: TypePosition): TypeExpression {
    if (schema === false) return NEVER;
    if (!isSchemaObject(schema) || place.depth > MAX_DEPTH || ++this.#schemas > MAX_SCHEMAS) return UNKNOWN;
    const inner = { ...place, depth: place.depth + 1 };
    const alternatives = (list: unknown) =>
      Array.isArray(list) ? list.map((one) => this.#type(one, inner)) : undefined;
    const combined: TypeExpression[] = [];
    if (schema["$ref"] !== undefined) combined.push(this.#reference(schema["$ref"], place));
    for (const one of [alternatives(schema["anyOf"]), alternatives(schema["oneOf"])]) {
      if (one !== undefined) combined.push(unionOf(one));
    }
    combined.push(...(alternatives(schema["allOf"]) ?? []));
    const own = this.#own(schema, place);
    // `type: object` without members is omitted if there are references or alternatives, which normally describe
    // objects themselves.
    const type = intersectionOf(combined.length > 0 && own === OPEN ? combined : [own, ...combined]);
    return schema["nullable"] === true ? unionOf([type, unit("null")]) : type;
  }

  /** The type that the schema's own keywords describe, without references and alternatives. */
  #own(schema: SchemaObject, place: TypePosition): TypeExpression {
    if (Object.hasOwn(schema, "const")) return literalType(schema["const"]);
    if (Array.isArray(schema["enum"])) return enumType(schema["enum"]);
    const types = typeof schema["type"] === "string" ? [schema["type"]] : schema["type"];
    if (Array.isArray(types)) return unionOf(types.map((type: unknown) => this.#ofType(type, schema, place)));
    if (OBJECT_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return this.#ofType("object", schema, place);
    if (ARRAY_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return this.#ofType("array", schema, place);
    return UNKNOWN;
  }

  #ofType(type: unknown, schema: SchemaObject, place: TypePosition): TypeExpression {
    if (type === "object") return this.#object(schema, place);
    if (type === "array") return this.#array(schema, place);
    const simple: Readonly<Record<string, string>> = SIMPLE_TYPES;
    return typeof type === "string" && Object.hasOwn(simple, type) ? unit(simple[type] ?? "unknown") : UNKNOWN;
  }

  #object(schema: SchemaObject, place: TypePosition): TypeExpression {
    const { required: wanted, properties: given } = schema;
    const properties = isSchemaObject(given) ? given : {};
    const required = new Set(Array.isArray(wanted) ? wanted.filter((name) => typeof name === "string") : []);
    const names = [...new Set([...required, ...Object.keys(properties)])].sort(
      (a, b) => Number(required.has(b)) - Number(required.has(a)) || (a < b ? -1 : 1),
    );
    const index = this.#index(schema, names.length > 0, place);
    if (names.length === 0) return index === undefined ? OPEN : unit(`{ [key: string]: ${index.text} }`);
    const indent = `${place.indent}  `;
    const members = names.map((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : true;
      const type = this.#type(property, { ...place, depth: place.depth + 1, indent, bare: false });
      return `${memberComment(property, indent)}${indent}${memberName(name)}${required.has(name) ? "" : "?"}: ${type.text};\n`;
    });
    const rest = index === undefined || index === NEVER ? "" : `${indent}[key: string]: ${index.text};\n`;
    return unit(`{\n${members.join("")}${rest}${place.indent}}`);
  }

  /** The type of additional members. Undefined if the schema does not restrict them. */
  #index(schema: SchemaObject, named: boolean, place: TypePosition): TypeExpression | undefined {
    const { additionalProperties: more, patternProperties: patterns } = schema;
    const schemas = [
      ...(isSchemaObject(patterns) ? Object.values(patterns) : []),
      ...(more === undefined ? [] : [more]),
    ];
    if (schemas.length === 0) return undefined;
    const inside = { ...place, depth: place.depth + 1, indent: `${place.indent}  `, bare: false };
    const type = unionOf(schemas.map((one) => this.#type(one, inside)));
    // TypeScript requires that an index signature also accepts the named members. Their types may differ, so use
    // `unknown`.
    return named && type !== NEVER ? UNKNOWN : type;
  }

  #array(schema: SchemaObject, place: TypePosition): TypeExpression {
    const { prefixItems, items, additionalItems, minItems } = schema;
    const inside = { ...place, depth: place.depth + 1, bare: false };
    // Before 2020-12, `items` held the tuple and `additionalItems` the rest.
    const [elements, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
    if (!Array.isArray(elements) || elements.length === 0) {
      return rest === undefined ? arrayOf(UNKNOWN) : arrayOf(this.#type(rest, inside));
    }
    const least = typeof minItems === "number" ? minItems : elements.length;
    const types = elements.map((one: unknown, at) => {
      const type = this.#type(one, inside);
      return at < least ? type.text : optionalElement(type);
    });
    const tail = rest === undefined ? UNKNOWN : this.#type(rest, inside);
    return unit(`[${[...types, ...(tail === NEVER ? [] : [`...${arrayOf(tail).text}`])].join(", ")}]`);
  }

  #reference(reference: unknown, { owner, bare }: TypePosition): TypeExpression {
    const found = resolveReference(this.#root, reference);
    if (found === undefined) return UNKNOWN;
    const { pointer, word, schema } = found;
    let name = this.#named.get(pointer);
    if (name === undefined) {
      name = this.#names.reserve(this.#rootName + typeName(word), this.#rootName + pointer);
      this.#named.set(pointer, name);
    }
    if (bare && this.#reaches(name, owner)) return UNKNOWN;
    if (bare) this.#alternatives.set(owner, (this.#alternatives.get(owner) ?? new Set()).add(name));
    this.#declare(name, schema);
    return unit(name, this.#bodies.get(name)?.width ?? widthOf(schema));
  }

  /**
   * True if `from` is `to`, or refers to `to` directly or indirectly. Follows only the references in `#alternatives`.
   */
  #reaches(from: string, to: string): boolean {
    const seen = new Set([from]);
    for (const name of seen) {
      if (name === to) return true;
      for (const next of this.#alternatives.get(name) ?? []) seen.add(next);
    }
    return false;
  }
}

const OBJECT_KEYWORDS = ["properties", "required", "additionalProperties", "patternProperties"];
const ARRAY_KEYWORDS = ["items", "prefixItems"];
const SIMPLE_TYPES = { string: "string", number: "number", integer: "number", boolean: "boolean", null: "null" };

/** A lower bound for the number of alternatives of a schema. */
function widthOf(schema: unknown): number {
  if (!isSchemaObject(schema)) return 1;
  const lists = [schema["anyOf"], schema["oneOf"], schema["enum"]];
  return Math.max(1, ...lists.map((list) => (Array.isArray(list) ? list.length : 1)));
}

/** The doc comment of a property: its description or title, and its default. */
function memberComment(property: unknown, indent: string): string {
  if (!isSchemaObject(property)) return "";
  const { description, title, default: standard } = property;
  const text = [description, title].find((one) => typeof one === "string" && one !== "");
  const written = typeof standard === "object" && standard !== null ? "" : JSON.stringify(standard);
  const value =
    written === undefined || written === "" || written.length > MAX_DEFAULT_LENGTH ? "" : `Default: ${written}.`;
  return docComment([text, value].filter((one) => one !== undefined && one !== "").join(" "), indent);
}

/** Maximum number of `enum` values that are written out. A longer `enum` becomes the union of its basic types. */
const MAX_ENUM_VALUES = 400;
const MAX_VALUE_DEPTH = 6;
const MAX_ELEMENTS = 50;

/** The type of the values of an `enum`. */
function enumType(values: readonly unknown[]): TypeExpression {
  return unionOf(values.map((value) => (values.length > MAX_ENUM_VALUES ? kindOf(value) : literalType(value))));
}

/** The type of exactly one JSON value. */
function literalType(value: unknown, depth = 0): TypeExpression {
  if (typeof value === "string") return unit(stringLiteral(value));
  if (value === null || typeof value === "boolean") return unit(String(value));
  if (typeof value === "number") return unit(Number.isFinite(value) ? String(value) : "number");
  if (typeof value !== "object" || depth > MAX_VALUE_DEPTH) return UNKNOWN;
  const inner = (one: unknown) => literalType(one, depth + 1).text;
  if (Array.isArray(value))
    return value.length > MAX_ELEMENTS ? kindOf(value) : unit(`[${value.map(inner).join(", ")}]`);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  if (members.length > MAX_ELEMENTS) return kindOf(value);
  return unit(
    members.length === 0
      ? "{}"
      : `{ ${members.map(([name, one]) => `${memberName(name)}: ${inner(one)}`).join("; ")} }`,
  );
}

function kindOf(value: unknown): TypeExpression {
  if (value === null) return unit("null");
  if (Array.isArray(value)) return arrayOf(UNKNOWN);
  return unit(typeof value === "object" ? "{ [key: string]: unknown }" : typeof value);
}
