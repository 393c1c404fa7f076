import { addMember, checkDepth, YamlError, type YamlValue } from "./yaml-error.js";
import { checkPlainStart, foldLines, plainKeyScalar, plainScalar, quotedScalar, quoteEnd } from "./yaml-scalar.js";
import { trimSpaces } from "./yaml-space.js";

// A comment begins after white space; a plain scalar ends at a bracket, a comma, a comment, or a colon that separates.
const SPACE = /(?:[ \t\n]|(?<=[ \t\n])#[^\n]*)*/y;
const PLAIN_END = /[,[\]{}]|:(?=[ \t\n,[\]{}]|$)|[ \t\n]#/g;

/** Reads a list in brackets or a map in braces, which may span lines. Takes time linear in its length. */
export class YamlFlow {
  readonly #text: string;
  /** Where the next character is. */
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  value(depth: number): YamlValue {
    if (depth > 0) checkDepth(depth, 0);
    const first = this.#peek();
    if (first === "[") return this.#list(depth);
    if (first === "{") return this.#map(depth);
    return first === '"' || first === "'" ? this.#quoted() : plainScalar(this.#plain(), 0);
  }

  #list(depth: number): YamlValue[] {
    const list: YamlValue[] = [];
    this.at++;
    while (this.#peek() !== "]") {
      list.push(this.value(depth + 1));
      if (this.#peek() === ":") throw new YamlError(0, "a pair in a list needs braces");
      this.#separator("]");
    }
    this.at++;
    return list;
  }

  #map(depth: number): { [key: string]: YamlValue } {
    const map: { [key: string]: YamlValue } = {};
    this.at++;
    while (this.#peek() !== "}") {
      const quoted = this.#peek() === '"' || this.#peek() === "'";
      const key = quoted ? this.#quoted() : plainKeyScalar(this.#plain(), 0);
      let value: YamlValue = null;
      if (this.#peek() === ":") {
        this.at++;
        if (!",}".includes(this.#peek())) value = this.value(depth + 1);
      }
      addMember(map, key, value, 0);
      this.#separator("}");
    }
    this.at++;
    return map;
  }

  #separator(end: "]" | "}"): void {
    const next = this.#peek();
    if (next === ",") this.at++;
    else if (next !== end) throw new YamlError(0, `expected \`,\` or \`${end}\`, found \`${next}\``);
  }

  #quoted(): string {
    const end = quoteEnd(this.#text, this.at);
    if (end === undefined) throw new YamlError(0, "a quote is not closed");
    const value = quotedScalar(this.#text.charAt(this.at), this.#text.slice(this.at + 1, end), 0);
    this.at = end + 1;
    return value;
  }

  #plain(): string {
    PLAIN_END.lastIndex = this.at;
    const end = PLAIN_END.exec(this.#text)?.index ?? this.#text.length;
    const lines = this.#text.slice(this.at, end).split("\n").map(trimSpaces);
    while (lines.length > 1 && lines.at(-1) === "") lines.pop();
    const text = foldLines(lines);
    if (text === "") throw new YamlError(0, "a value is missing");
    checkPlainStart(text, 0);
    this.at = end;
    return text;
  }

  /** The next character that is neither white space nor part of a comment. */
  #peek(): string {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.#text)?.[0].length ?? 0;
    const next = this.#text.charAt(this.at);
    if (next === "") throw new YamlError(0, "a bracket is not closed");
    return next;
  }
}
