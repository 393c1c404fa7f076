import { sha256 } from "../../platform/sha256.js";

/** The subset of JSON Schema that a model provider accepts for tool arguments. */
export interface SchemaDialect {
  /** Supported keywords, by the type that they apply to. */
  readonly keywords: Readonly<Record<"string" | "number" | "array" | "object", readonly string[]>>;
  /** Supported string formats. */
  readonly formats: readonly string[];
  /** True if the provider supports a pattern. */
  readonly pattern: (source: string) => boolean;
  /** True if every property must be required. Optional properties then become nullable, and `null` means absent. */
  readonly allRequired: boolean;
  /** True if objects need `additionalProperties: false`. */
  readonly closed: boolean;
  /** True if `enum` may contain only non-empty strings. */
  readonly stringEnums: boolean;
  /** True if an object needs at least one property. */
  readonly filledObjects: boolean;
  /** True if object alternatives must differ in the name or the values of their first property. */
  readonly distinctFirstKeys: boolean;
  /** Allowed property names; others are replaced. Default: every name. */
  readonly propertyName?: RegExp;
  /** Maximum number of nested objects and lists, including the root. Deeper values become JSON text. */
  readonly maxDepth: number;
}

/** The subset that OpenAI accepts with `strict: true`. */
export const OPENAI_STRICT: SchemaDialect = {
  keywords: {
    string: ["pattern", "format"],
    number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    array: ["minItems", "maxItems"],
    object: [],
  },
  formats: ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
  // Look-around, named groups, back-references and Unicode properties are not supported.
  pattern: (source) => !/\(\?[^:]|\\[1-9k]|\\[pP]\{/.test(source),
  allRequired: true,
  closed: true,
  stringEnums: false,
  filledObjects: false,
  distinctFirstKeys: true,
  // Newer models allow 10 levels, all models allow 5.
  maxDepth: 5,
};

/** The subset that Gemini accepts as `parameters` of a function declaration. */
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
/** The longest name that OpenAI, Anthropic and Gemini all accept for tools and properties. */
const MAX_NAME_LENGTH = 64;

/**
 * Derives a name of at most 64 letters, digits and `_` that does not begin with a digit and is not in `taken`. The
 * result depends only on `name`, except when it collides with a name in `taken`.
 */
export function legalName(name: string, taken: ReadonlySet<string>): string {
  const clean = name
    .slice(0, 256)
    .replace(/[^A-Za-z0-9_]/g, "_")
    .replace(/^(?=[0-9])/, "_")
    .slice(0, MAX_NAME_LENGTH - 1 - DIGEST_CHARACTERS);
  for (let attempt = 0; ; attempt++) {
    // Hash JSON, because it distinguishes lone surrogates, which UTF-8 cannot encode.
    const bytes = sha256(new TextEncoder().encode(JSON.stringify([name, attempt])));
    const digest = Array.from(bytes.subarray(0, DIGEST_CHARACTERS / 2), (byte) => byte.toString(16).padStart(2, "0"));
    const legal = `${clean}_${digest.join("")}`;
    if (!taken.has(legal)) return legal;
  }
}
