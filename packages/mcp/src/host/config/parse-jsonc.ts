import { McpError } from "../../protocol/error.js";

/**
 * Maximum length of the text, in characters. The limit is high, because applications may store much else in the same
 * file.
 */
const MAX_TEXT_LENGTH = 16 * 1024 * 1024;
/** Maximum nesting of arrays and objects. */
const MAX_DEPTH = 64;

/**
 * Parses JSON with comments and trailing commas, as editors write it. Throws `invalid_definition` with the line and the
 * column. The error never contains a part of the text, which may be a secret. `what` names the text in messages.
 */
export function parseJsonc(text: string, what: string): unknown {
  if (text.length > MAX_TEXT_LENGTH) {
    throw new McpError("invalid_definition", `${what} is longer than ${MAX_TEXT_LENGTH} characters (MAX_TEXT_LENGTH)`, {
      fix: "Move the servers to a separate file.",
    });
  }
  return new JsoncReader(text, what).document();
}

class JsoncReader {
  readonly #text: string;
  readonly #what: string;
  #at: number;

  constructor(text: string, what: string) {
    this.#text = text;
    this.#what = what;
    // Skips a byte order mark.
    this.#at = text.startsWith("\uFEFF") ? 1 : 0;
  }

  document(): unknown {
    const value = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) this.#refuse("there is text after the end of the value");
    return value;
  }

  #value(depth: number): unknown {
    if (depth > MAX_DEPTH) this.#refuse(`arrays and objects are nested more than ${MAX_DEPTH} deep (MAX_DEPTH)`);
    this.#skip();
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#list(depth);
    if (first === '"') return this.#string();
    return this.#word();
  }

  #object(depth: number): Record<string, unknown> {
    const members: [string, unknown][] = [];
    this.#items("}", () => {
      if (this.#text[this.#at] !== '"') this.#refuse("expected a name in double quotes");
      const name = this.#string();
      this.#skip();
      if (this.#text[this.#at] !== ":") this.#refuse("a colon is missing after a name");
      this.#at++;
      members.push([name, this.#value(depth + 1)]);
    });
    // `fromEntries` makes even `__proto__` an ordinary member.
    return Object.fromEntries(members);
  }

  #list(depth: number): unknown[] {
    const found: unknown[] = [];
    this.#items("]", () => found.push(this.#value(depth + 1)));
    return found;
  }

  /** Reads the comma-separated items between brackets. */
  #items(end: string, read: () => void): void {
    const start = this.#at++;
    for (;;) {
      this.#skip();
      if (this.#text[this.#at] === end) break;
      if (this.#at >= this.#text.length) this.#refuse(`\`${this.#text[start]}\` is not closed`, start);
      read();
      this.#skip();
      if (this.#text[this.#at] === ",") this.#at++;
      else if (this.#text[this.#at] !== end && this.#at < this.#text.length) this.#refuse("a comma is missing");
    }
    this.#at++;
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"' && this.#text[end] !== "\n") {
      end += this.#text[end] === "\\" ? 2 : 1;
    }
    if (this.#text[end] !== '"') this.#refuse("a string does not end on its line", start);
    this.#at = end + 1;
    // Safe: valid JSON in quotes is a string.
    return this.#parsed(start) as string;
  }

  #word(): unknown {
    const start = this.#at;
    while (this.#at < this.#text.length && /[\w.+-]/.test(this.#text[this.#at] ?? "")) this.#at++;
    if (this.#at === start) this.#refuse("a value is missing");
    return this.#parsed(start);
  }

  #parsed(start: number): unknown {
    try {
      return JSON.parse(this.#text.slice(start, this.#at));
    } catch {
      // The engine's message would quote the text, which may be a secret.
      return this.#refuse("this is not a JSON value", start);
    }
  }

  /** Skips white space and comments. */
  #skip(): void {
    for (;;) {
      const rest = this.#text[this.#at];
      if (rest !== undefined && " \t\r\n".includes(rest)) this.#at++;
      else if (this.#text.startsWith("//", this.#at)) this.#at = this.#after("\n", this.#text.length);
      else if (this.#text.startsWith("/*", this.#at)) this.#at = this.#after("*/");
      else return;
    }
  }

  #after(end: string, otherwise?: number): number {
    const found = this.#text.indexOf(end, this.#at + 2);
    if (found >= 0) return found + end.length;
    return otherwise ?? this.#refuse("a comment is not closed");
  }

  #refuse(message: string, at = this.#at): never {
    const before = this.#text.slice(0, at).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
    throw new McpError("invalid_definition", `${this.#what} is not valid JSON: ${message} (${place})`, {
      fix: "Correct the text there; comments and trailing commas are allowed.",
    });
  }
}
