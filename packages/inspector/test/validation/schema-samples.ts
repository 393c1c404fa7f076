import { readFileSync } from "node:fs";

/** A JSON Schema as it is published. */
export type PublishedSchema = { readonly [keyword: string]: unknown };

const WORDS = ["text", "object", "array", "string", "boolean", "number", "form", "url", "2.0", "tools/call", "a b", ""];
const FORMATS: { readonly [format: string]: readonly string[] } = {
  uri: ["file:///a", "https://user@example.com:80/a%20b?q=1#f", "urn:x:y", "a+b:c", "http://[::1]/"],
  "uri-template": ["file:///{path}", "https://example.com/{+a,b*}{?c:3}", "plain"],
  byte: ["", "YQ==", "YWI=", "YWJj"],
};
/** What a mutant puts in the place of a value. */
const WRONG: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  101,
  "",
  "x",
  "not a uri",
  "a/b",
  "{open",
  [],
  {},
  [1],
  { a: 1 },
];

/** The definitions of a published `schema.json`. */
export function readDefinitions(path: string): { readonly [name: string]: PublishedSchema } {
  const document: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isPlain(document)) throw new Error(`${path} is no object`);
  const definitions = document.$defs ?? document.definitions;
  if (!isPlain(definitions)) throw new Error(`${path} has no definitions`);
  return Object.fromEntries(
    Object.entries(definitions).filter((entry): entry is [string, PublishedSchema] => isPlain(entry[1])),
  );
}

/** Makes values that a schema accepts, and others that are nearly such, from one source of random numbers. */
export class SchemaSamples {
  readonly #definitions: { readonly [name: string]: PublishedSchema };
  readonly #random: () => number;

  constructor(definitions: { readonly [name: string]: PublishedSchema }, random: () => number) {
    this.#definitions = definitions;
    this.#random = random;
  }

  /** A value of a definition; with more or fewer of the members that it may have. */
  sample(schema: unknown, depth = 0): unknown {
    if (!isPlain(schema)) return "any";
    if (typeof schema.$ref === "string") {
      return this.sample(this.#definitions[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)], depth + 1);
    }
    if (Array.isArray(schema.anyOf)) return this.sample(this.#pick(schema.anyOf), depth + 1);
    if (Array.isArray(schema.allOf)) {
      return Object.assign({}, ...schema.allOf.map((part) => this.sample(part, depth + 1)));
    }
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return this.#pick(schema.enum);
    return this.#ofType(schema, Array.isArray(schema.type) ? this.#pick(schema.type) : schema.type, depth);
  }

  /** A copy with one to three places changed: a member removed, a value of another type or form, one more or less level. */
  mutant(value: unknown): unknown {
    let changed = structuredClone(value);
    for (let left = 1 + Math.floor(this.#random() * 3); left > 0; left--) changed = this.#changed(changed);
    return changed;
  }

  #ofType(schema: PublishedSchema, type: unknown, depth: number): unknown {
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return Array.from({ length: depth > 8 ? 0 : Math.floor(this.#random() * 3) }, () =>
          this.sample(schema.items, depth + 1),
        );
      case "string":
        return this.#pick(FORMATS[String(schema.format)] ?? WORDS);
      case "integer":
      case "number":
        return typeof schema.minimum === "number" ? schema.minimum : Math.floor(this.#random() * 100);
      case "boolean":
        return this.#random() < 0.5;
      case "null":
        return null;
      default:
        return this.#pick(WRONG);
    }
  }

  #object(schema: PublishedSchema, depth: number): unknown {
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    const members = Object.entries(isPlain(schema.properties) ? schema.properties : {})
      .filter(([key]) => required.includes(key) || this.#random() < (depth > 8 ? 0.1 : 0.4))
      .map(([key, member]) => [key, this.sample(member, depth + 1)]);
    if (isPlain(schema.additionalProperties) && this.#random() < 0.7 && depth < 8) {
      members.push(["more", this.sample(schema.additionalProperties, depth + 1)]);
    }
    return Object.fromEntries(members);
  }

  #changed(value: unknown): unknown {
    const entries = isPlain(value) || Array.isArray(value) ? Object.entries(value) : [];
    if (entries.length === 0 || this.#random() < 0.15) return this.#replaced(value);
    const [key, member] = this.#pick(entries);
    if (Array.isArray(value)) return value.with(Number(key), this.#changed(member));
    if (this.#random() < 0.3) return Object.fromEntries(entries.filter(([each]) => each !== key));
    return Object.fromEntries(entries.map(([each, kept]) => [each, each === key ? this.#changed(member) : kept]));
  }

  #replaced(value: unknown): unknown {
    const roll = this.#random();
    if (roll < 0.1) return [value];
    if (roll < 0.2) return { inner: value };
    if (typeof value === "string" && roll < 0.5) return this.#pick(WORDS);
    return structuredClone(this.#pick(WRONG));
  }

  #pick<T>(list: readonly T[]): T {
    const index = Math.min(Math.floor(this.#random() * list.length), list.length - 1);
    // The lists are not empty, so that the index is always within one.
    return list[index] as T;
  }
}

/** Whether a value is an object of JSON. */
export function isPlain(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
