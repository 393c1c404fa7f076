/** The text that replaces a secret in a recording. */
export const REDACTED = "[redacted]";

/** Secrets to remove from a recording, in addition to the secrets that are recognized by name or form. */
export interface RedactorOptions {
  /**
   * Texts that are secrets wherever they occur, such as values of environment variables and headers. Default: none.
   */
  readonly values?: readonly string[];
  /** Patterns that match secrets. Every match is removed. Default: none. */
  readonly patterns?: readonly RegExp[];
}

/** Endings of names whose values are secrets, in lower case and without punctuation. */
const SECRET_NAME =
  /(?:token|password|passwd|passphrase|pwd|secret|apikey|accesskey|privatekey|signingkey|authorization|cookie|credentials?|bearer)$/;
/** Protocol names that match `SECRET_NAME` but are not secret. */
const NOT_SECRET = new Set(["progresstoken"]);

/**
 * Names of the environment variables in which a shell stores its current and previous folder. Variables with other
 * spellings, such as `pwd` and `DB_PWD`, usually hold passwords.
 */
const FOLDER_NAME = /^(?:OLD)?PWD$/;
const ABSOLUTE_PATH = /^(?:\/|[A-Za-z]:[\\/])/;

/**
 * True if a header, variable or member of this name holds a secret. Pass the value if it is known: `PWD` with an
 * absolute path is the folder of a shell, and otherwise counts as a password.
 *
 * @example
 * ```ts
 * import { isSecretName } from "@parley/mcp/recording";
 *
 * isSecretName("authorization"); // true
 * isSecretName("city"); // false
 * ```
 */
export function isSecretName(name: string, value?: unknown): boolean {
  const compact = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (!SECRET_NAME.test(compact) || NOT_SECRET.has(compact)) return false;
  return !(FOLDER_NAME.test(name) && typeof value === "string" && ABSOLUTE_PATH.test(value));
}

/** Common forms of tokens and keys. Each part is a single character class, so that no pattern can backtrack far. */
const SECRET_TEXTS: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?<=\b(?:bearer|basic)\s{1,4})(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{12,}=*/gi,
  /\bsk-[\w-]{16,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_|hf_|rk_live_|sk_live_|whsec_)[\w-]{10,}/g,
  /\bA(?:KIA|SIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
  // Credentials in a URL: `https://user:password@host`.
  /(?<=:\/\/)[^\s/@:"]{1,200}:[^\s/@"]{1,200}(?=@)/g,
];

/** JSON members inside a text: `"token": "…"`. The quotes may also be single quotes, or escaped once more. */
const MEMBER_IN_TEXT = /(\\?["'])([\w-]{2,60})\1(\s{0,4}:\s{0,4})\1(?:(?!\1)(?:\\\\|\\.|[^\\])){1,4096}\1/gs;
/** Settings inside a text: `token=…`. */
const SETTING_IN_TEXT = /\b([\w-]{2,60})=(["']?)([^"'\s,;&}]{4,4096})/g;

/**
 * True if a text contains a common form of secret, such as a JWT or an API key.
 *
 * @example
 * ```ts
 * import { looksSecret } from "@parley/mcp/recording";
 *
 * looksSecret("Oslo"); // false
 * ```
 */
export function looksSecret(text: string): boolean {
  return SECRET_TEXTS.some((pattern) => text.search(pattern) >= 0);
}

/** Members of a JSON Schema that contain schemas by name. */
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/**
 * Maximum nesting of a copied value. No protocol message is nested deeper, so deeper values are replaced as a whole.
 */
const MAX_DEPTH = 200;

/**
 * Removes secrets from messages.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/cli-record.md | Recording and replaying}
 */
export class Redactor {
  readonly #values: readonly string[];
  readonly #patterns: readonly RegExp[];

  /** Creates a redactor for the secrets in the options and for those that are recognized by name or form. */
  constructor({ values = [], patterns = [] }: RedactorOptions = {}) {
    const written = values.flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
    // The longest values first, because one value may contain another.
    this.#values = [...new Set(written)].filter((value) => value !== "").sort((a, b) => b.length - a.length);
    this.#patterns = patterns.map(({ source, flags }) => new RegExp(source, flags.includes("g") ? flags : `${flags}g`));
  }

  /** Returns a copy of a JSON value without secrets. */
  value(value: unknown): unknown {
    return this.#copy(value, false, false, 0);
  }

  /** Returns a text without secrets. */
  text(text: string): string {
    let clean = text;
    for (const value of this.#values) clean = clean.replaceAll(value, () => REDACTED);
    for (const pattern of this.#patterns) clean = clean.replace(pattern, (match) => (match === "" ? "" : REDACTED));
    for (const pattern of SECRET_TEXTS) clean = clean.replace(pattern, REDACTED);
    return withoutMembers(clean).replace(SETTING_IN_TEXT, (all: string, name: string, quote: string, value: string) =>
      isSecretName(name, value) ? `${name}=${quote}${REDACTED}` : all,
    );
  }

  #copy(value: unknown, secret: boolean, names: boolean, depth: number): unknown {
    if (depth > MAX_DEPTH) return REDACTED;
    if (typeof value === "string") return secret && value !== "" ? REDACTED : this.text(value);
    if (typeof value === "number") return secret ? REDACTED : value;
    if (Array.isArray(value)) return value.map((item: unknown) => this.#copy(item, secret, false, depth + 1));
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value).map(([name, member]: [string, unknown]) => {
      // The schema of a property named `password` is not a secret.
      const isSchema = names && typeof member === "object";
      const below = secret || (isSecretName(name, member) && !isSchema);
      return [this.text(name), this.#copy(member, below, SCHEMA_MAPS.has(name), depth + 1)] as const;
    });
    // `fromEntries` creates an own member even for `__proto__`.
    return Object.fromEntries(members);
  }
}

/** Redacts the values of secret members, including members of JSON nested inside another member's value. */
function withoutMembers(text: string): string {
  return text.replace(MEMBER_IN_TEXT, (all: string, quote: string, name: string, colon: string) => {
    const start = `${quote}${name}${quote}${colon}${quote}`;
    const value = all.slice(start.length, -quote.length);
    return `${start}${isSecretName(name, value) ? REDACTED : withoutMembers(value)}${quote}`;
  });
}

/** True if redacting `text` could have produced `recorded`. */
export function matchesRedacted(recorded: string, text: string): boolean {
  if (!recorded.includes(REDACTED)) return recorded === text;
  const [first = "", ...rest] = recorded.split(REDACTED);
  const last = rest.pop() ?? "";
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
