/** The replacement of a secret in a recording. */
export const REDACTED = "[redacted]";

/** Secrets to remove from a recording besides the usual ones. */
export interface RedactorOptions {
  /** Texts that are secrets wherever they appear: values of variables and headers. */
  readonly values?: readonly string[];
  /** Whatever they match is a secret. */
  readonly patterns?: readonly RegExp[];
}

/** Names whose values are secrets, whatever case and punctuation they are written in. */
const SECRET_NAME =
  /(?:token|password|passwd|passphrase|pwd|secret|apikey|accesskey|privatekey|signingkey|authorization|cookie|credentials?|bearer)$/;
/** Names of the protocol that only look like them. */
const HARMLESS = new Set(["progresstoken"]);

/** The current and the former folder of a shell; other spellings, such as `pwd` and `DB_PWD`, are passwords. */
const FOLDER_NAME = /^(?:OLD)?PWD$/;
const ABSOLUTE_PATH = /^(?:\/|[A-Za-z]:[\\/])/;

/**
 * Whether a header, a variable or a member of this name holds a secret. Pass its value where it is known: `PWD` with an absolute path is
 * the folder of a shell, and otherwise a password.
 */
export function isSecretName(name: string, value?: unknown): boolean {
  const compact = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (!SECRET_NAME.test(compact) || HARMLESS.has(compact)) return false;
  return !(FOLDER_NAME.test(name) && typeof value === "string" && ABSOLUTE_PATH.test(value));
}

/** The usual forms of tokens and keys. None of them can backtrack far: every part is a single class. */
const SECRET_TEXTS: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?<=\b(?:bearer|basic)\s{1,4})(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{12,}=*/gi,
  /\bsk-[\w-]{16,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|npm_|hf_|rk_live_|sk_live_|whsec_)[\w-]{10,}/g,
  /\bA(?:KIA|SIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
  // Credentials in an address: `https://user:password@host`.
  /(?<=:\/\/)[^\s/@:"]{1,200}:[^\s/@"]{1,200}(?=@)/g,
];

/** Members of JSON inside a text: `"token": "…"`. The quotes may be single, or escaped once more. */
const MEMBER_IN_TEXT = /(\\?["'])([\w-]{2,60})\1(\s{0,4}:\s{0,4})\1(?:(?!\1)(?:\\\\|\\.|[^\\])){1,4096}\1/gs;
/** Settings inside a text: `token=…`. */
const SETTING_IN_TEXT = /\b([\w-]{2,60})=(["']?)([^"'\s,;&}]{4,4096})/g;

/** Whether a text looks like a secret by itself. */
export function looksSecret(text: string): boolean {
  return SECRET_TEXTS.some((pattern) => text.search(pattern) >= 0);
}

/** Members of a JSON Schema that hold names and schemas, and no values. */
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Nothing of the protocol is nested deeper; what is may hide anything. */
const MAX_DEPTH = 200;

/** Takes secrets out of messages. */
export class Redactor {
  readonly #values: readonly string[];
  readonly #patterns: readonly RegExp[];

  constructor({ values = [], patterns = [] }: RedactorOptions = {}) {
    const written = values.flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
    // The longest first: one may be a part of another.
    this.#values = [...new Set(written)].filter((value) => value !== "").sort((a, b) => b.length - a.length);
    this.#patterns = patterns.map(({ source, flags }) => new RegExp(source, flags.includes("g") ? flags : `${flags}g`));
  }

  /** A copy of a value of JSON without secrets. */
  value(value: unknown): unknown {
    return this.#copy(value, false, false, 0);
  }

  /** A text without secrets. */
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
      // A schema may have a property `password`, and its schema is no secret.
      const isSchema = names && typeof member === "object";
      const below = secret || (isSecretName(name, member) && !isSchema);
      return [this.text(name), this.#copy(member, below, SCHEMA_MAPS.has(name), depth + 1)] as const;
    });
    // `fromEntries` makes even `__proto__` a member like any other.
    return Object.fromEntries(members);
  }
}

/** Takes out the values of secret members, also of those inside the value of another one, such as JSON that a member holds. */
function withoutMembers(text: string): string {
  return text.replace(MEMBER_IN_TEXT, (all: string, quote: string, name: string, colon: string) => {
    const start = `${quote}${name}${quote}${colon}${quote}`;
    const value = all.slice(start.length, -quote.length);
    return `${start}${isSecretName(name, value) ? REDACTED : withoutMembers(value)}${quote}`;
  });
}

/** Whether a text can be what a recorded one was before secrets were taken out of it. */
export function fitsRedacted(recorded: string, text: string): boolean {
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
