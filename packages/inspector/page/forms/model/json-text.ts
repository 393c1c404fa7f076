/** A JSON text that was read, or where it is wrong. Lines and columns count from 1. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly line: number; readonly column: number };

/** A value as text with two spaces; undefined is the empty text. */
export function jsonText(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** Reads a JSON text. A text of white space alone is the absent value. */
export function readJsonText(text: string): JsonReading {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    // A JSON text is any value.
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

/** The containers that are open at once; the parsers of browsers give up at about as many. */
const DEEPEST = 5_000;

/**
 * Finds where a text stops being JSON: browsers word the place differently, and not all tell it.
 *
 * Reads without recursion, because the text may be nested deeply.
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
      if (open.length === 0) return this.#error("is not JSON");
    }
  }

  /** Reads a scalar, or the opening of a container and, of an object, the name of its first member. */
  #valueOrOpening(open: ("{" | "[")[]): "scalar" | "opened" | { at: number; message: string } {
    this.#space();
    const char = this.#text[this.#at];
    if (char === undefined) return this.#error("ends before a value");
    if (char === "{" || char === "[") {
      if (open.length >= DEEPEST) return this.#error("is nested too deeply");
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
    if (found === undefined) return this.#error(`has ${this.#shown()} where a value must be`);
    this.#at += found.length;
    return "scalar";
  }

  /** Reads what follows a value: closings, then a comma and, in an object, the next name. */
  #afterValue(open: ("{" | "[")[]): { at: number; message: string } | undefined {
    for (;;) {
      this.#space();
      const char = this.#text[this.#at];
      const inside = open.at(-1);
      if (inside === undefined)
        return char === undefined ? undefined : this.#error(`goes on with ${this.#shown()} after its end`);
      const closing = inside === "{" ? "}" : "]";
      if (char === closing) {
        this.#at++;
        open.pop();
        continue;
      }
      if (char !== ",") {
        return this.#error(
          char === undefined
            ? `ends before \`${closing}\``
            : `has ${this.#shown()} where \`,\` or \`${closing}\` must be`,
        );
      }
      this.#at++;
      if (inside === "[") return undefined;
      return this.#name();
    }
  }

  #name(): { at: number; message: string } | undefined {
    this.#space();
    if (this.#text[this.#at] !== '"')
      return this.#error(`has ${this.#shown()} where a name in quotation marks must be`);
    const wrong = this.#string();
    if (wrong !== undefined) return wrong;
    this.#space();
    if (this.#text[this.#at] !== ":") return this.#error(`has ${this.#shown()} where \`:\` must be`);
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
      if (char < " ") return this.#error("has a line break or control character inside a string; write it as `\\n`");
      if (char === "\\") {
        const known = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
        known.lastIndex = this.#at;
        const [found] = known.exec(this.#text) ?? [];
        if (found === undefined) return this.#error("has an escape that JSON does not know");
        this.#at += found.length - 1;
      }
    }
    return { at: start, message: "has a string without its closing quotation mark" };
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #shown(): string {
    const char = this.#text[this.#at];
    return char === undefined ? "its end" : `\`${char}\``;
  }

  #error(message: string): { at: number; message: string } {
    return { at: this.#at, message };
  }
}

/** What is read from the text of a number field. */
export interface NumberReading {
  /** Undefined for no text, and for one that is no number. */
  readonly value: number | undefined;
  readonly problem?: string | undefined;
}

/** Reads what was typed as a number. */
export function readNumberText(text: string, integer: boolean): NumberReading {
  const typed = text.trim();
  if (typed === "") return { value: undefined };
  const value = Number(typed);
  if (!/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$/i.test(typed) || !Number.isFinite(value)) {
    return { value: undefined, problem: "This is not a number; it is not sent." };
  }
  if (integer && !Number.isInteger(value)) return { value, problem: "The schema wants a whole number." };
  if (/^[-+]?[0-9]+$/.test(typed) && !Number.isSafeInteger(value)) {
    return { value, problem: `Too large to be exact: it is sent as ${value}.` };
  }
  return { value };
}
