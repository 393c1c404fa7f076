/** The value of a JSON text, or the position of its first error. Lines and columns count from 1. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly line: number; readonly column: number };

/** Formats a value with two spaces of indentation. Undefined gives an empty text. */
export function jsonText(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** Parses a JSON text. White space alone gives undefined. */
export function readJsonText(text: string): JsonReading {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    // The parser may return any value.
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return failureAt(text, new JsonScanner(text).firstError());
  }
}

function failureAt(text: string, failure: { readonly at: number; readonly message: string }): JsonReading {
  const before = text.slice(0, failure.at);
  const line = before.split("\n").length;
  return { ok: false, message: failure.message, line, column: failure.at - before.lastIndexOf("\n") };
}

/**
 * Maximum nesting depth that the scanner follows. Deeper nesting is reported as an error. The parsers of browsers have
 * similar limits.
 */
const MAX_DEPTH = 5_000;

/**
 * Finds the first syntax error, because browsers report its position in different ways or not at all.
 *
 * Works without recursion, because the text may be deeply nested.
 */
class JsonScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  firstError(): { at: number; message: string } {
    const open: ("{" | "[")[] = [];
    for (;;) {
      const opened = this.#valueOrOpening(open);
      if (typeof opened === "object") return opened;
      if (opened === "opened") continue;
      const wrong = this.#afterValue(open);
      if (wrong !== undefined) return wrong;
      if (open.length === 0) return this.#error("this is not valid JSON");
    }
  }

  /**
   * Reads a scalar, an empty container, or the opening bracket of a container. After `{`, also reads the name of the
   * first member.
   */
  #valueOrOpening(open: ("{" | "[")[]): "scalar" | "opened" | { at: number; message: string } {
    this.#space();
    const char = this.#text[this.#at];
    if (char === undefined) return this.#error("expected a value, but the text ends");
    if (char === "{" || char === "[") {
      if (open.length >= MAX_DEPTH) return this.#error("the text is nested too deeply");
      this.#at++;
      this.#space();
      const closing = char === "{" ? "}" : "]";
      if (this.#text[this.#at] === closing) {
        this.#at++;
        return "scalar";
      }
      open.push(char);
      return char === "{" ? (this.#name() ?? "opened") : "opened";
    }
    if (char === '"') return this.#string() ?? "scalar";
    const scalar = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/y;
    scalar.lastIndex = this.#at;
    const [found] = scalar.exec(this.#text) ?? [];
    if (found === undefined) return this.#error(`expected a value, found ${this.#found()}`);
    this.#at += found.length;
    return "scalar";
  }

  /** Reads the closing brackets after a value, then a comma and, in an object, the next name. */
  #afterValue(open: ("{" | "[")[]): { at: number; message: string } | undefined {
    for (;;) {
      this.#space();
      const char = this.#text[this.#at];
      const inside = open.at(-1);
      if (inside === undefined)
        return char === undefined ? undefined : this.#error(`unexpected ${this.#found()} after the value`);
      const closing = inside === "{" ? "}" : "]";
      if (char === closing) {
        this.#at++;
        open.pop();
        continue;
      }
      if (char !== ",") {
        return this.#error(
          char === undefined
            ? `expected \`${closing}\`, but the text ends`
            : `expected \`,\` or \`${closing}\`, found ${this.#found()}`,
        );
      }
      this.#at++;
      if (inside === "[") return undefined;
      return this.#name();
    }
  }

  #name(): { at: number; message: string } | undefined {
    this.#space();
    if (this.#text[this.#at] !== '"') return this.#error(`expected a name in double quotes, found ${this.#found()}`);
    const wrong = this.#string();
    if (wrong !== undefined) return wrong;
    this.#space();
    if (this.#text[this.#at] !== ":") return this.#error(`expected \`:\`, found ${this.#found()}`);
    this.#at++;
    return undefined;
  }

  #string(): { at: number; message: string } | undefined {
    const start = this.#at++;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] ?? "";
      if (char === '"') {
        this.#at++;
        return undefined;
      }
      if (char < " ")
        return this.#error("line break or control character in a string; write it as an escape such as `\\n`");
      if (char === "\\") {
        const known = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
        known.lastIndex = this.#at;
        const [found] = known.exec(this.#text) ?? [];
        if (found === undefined) return this.#error("unknown escape sequence in a string");
        this.#at += found.length - 1;
      }
    }
    return { at: start, message: "the string has no closing quote" };
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #found(): string {
    const char = this.#text[this.#at];
    return char === undefined ? "the end of the text" : `\`${char}\``;
  }

  #error(message: string): { at: number; message: string } {
    return { at: this.#at, message };
  }
}

/** The result of reading a number field. */
export interface NumberReading {
  /** Undefined for an empty text and for one that is not a number. */
  readonly value: number | undefined;
  readonly problem?: string | undefined;
}

/** Parses the text of a number field. */
export function readNumberText(text: string, integer: boolean): NumberReading {
  const typed = text.trim();
  if (typed === "") return { value: undefined };
  const value = Number(typed);
  if (!/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$/i.test(typed) || !Number.isFinite(value)) {
    return { value: undefined, problem: "Not a number; the field will not be sent." };
  }
  if (integer && !Number.isInteger(value)) return { value, problem: "Must be a whole number." };
  if (/^[-+]?[0-9]+$/.test(typed) && !Number.isSafeInteger(value)) {
    return { value, problem: `Too large to be exact; sent as ${value}.` };
  }
  return { value };
}
