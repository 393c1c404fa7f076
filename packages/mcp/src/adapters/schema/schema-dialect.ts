import { sha256 } from "../../platform/sha256.js";

/** The JSON Schema that a model provider accepts for the arguments of a tool. */
export interface SchemaDialect {
  /** Keywords that are kept, by the type that they apply to. */
  readonly keywords: Readonly<Record<"string" | "number" | "array" | "object", readonly string[]>>;
  /** Formats of strings that are kept. */
  readonly formats: readonly string[];
  /** Whether a pattern is one that it reads. */
  readonly pattern: (source: string) => boolean;
  /** Every property is required: optional ones become nullable, and `null` means that they are absent. */
  readonly allRequired: boolean;
  /** Objects say `additionalProperties: false`. */
  readonly closed: boolean;
  /** `enum` holds strings alone, none of them empty. */
  readonly stringEnums: boolean;
  /** An object has at least one property. */
  readonly filledObjects: boolean;
  /** Alternatives that are objects differ in their first property, by its name or its values. */
  readonly distinctFirstKeys: boolean;
  /** Names of properties; others are replaced. */
  readonly propertyName?: RegExp;
  /** Objects and lists inside each other, the whole counted as the first; what is deeper becomes JSON text. */
  readonly maxDepth: number;
}

/** What OpenAI accepts with `strict: true`. */
export const OPENAI_STRICT: SchemaDialect = {
  keywords: {
    string: ["pattern", "format"],
    number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    array: ["minItems", "maxItems"],
    object: [],
  },
  formats: ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
  // Neither look-around nor named groups nor back-references.
  pattern: (source) => !/\(\?[^:]|\\[1-9k]|\\[pP]\{/.test(source),
  allRequired: true,
  closed: true,
  stringEnums: false,
  filledObjects: false,
  distinctFirstKeys: true,
  // Newer models allow 10; all allow 5.
  maxDepth: 5,
};

/** What Gemini accepts as `parameters` of a function declaration. */
export const GEMINI: SchemaDialect = {
  keywords: {
    string: ["pattern", "format", "minLength", "maxLength"],
    number: ["minimum", "maximum"],
    array: ["minItems", "maxItems"],
    object: ["minProperties", "maxProperties"],
  },
  formats: ["date-time"],
  pattern: (source) => !/\(\?[^:]|\\[1-9k]/.test(source),
  allRequired: false,
  closed: false,
  stringEnums: true,
  filledObjects: true,
  distinctFirstKeys: false,
  propertyName: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  maxDepth: 8,
};

const DIGEST_CHARACTERS = 8;
/** The longest name that OpenAI, Anthropic and Gemini all accept for tools and for properties. */
const MAX_NAME_LENGTH = 64;

/**
 * A name of letters, digits and `_`, at most 64 characters, that begins with a letter or `_` and is not in `taken`. Depends on
 * the name alone, unless another name was made to be like it.
 */
export function legalName(name: string, taken: ReadonlySet<string>): string {
  const clean = name
    .slice(0, 256)
    .replace(/[^A-Za-z0-9_]/g, "_")
    .replace(/^(?=[0-9])/, "_")
    .slice(0, MAX_NAME_LENGTH - 1 - DIGEST_CHARACTERS);
  for (let attempt = 0; ; attempt++) {
    // As JSON, because it keeps lone surrogates apart, which UTF-8 cannot.
    const bytes = sha256(new TextEncoder().encode(JSON.stringify([name, attempt])));
    const digest = Array.from(bytes.subarray(0, DIGEST_CHARACTERS / 2), (byte) => byte.toString(16).padStart(2, "0"));
    const legal = `${clean}_${digest.join("")}`;
    if (!taken.has(legal)) return legal;
  }
}
