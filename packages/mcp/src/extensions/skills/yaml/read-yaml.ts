import {
  addMember,
  checkCharacters,
  checkDepth,
  checkPlainStart,
  foldLines,
  plainKeyScalar,
  plainScalar,
  quotedScalar,
  quoteEnd,
  trimSpaces,
  trimSpacesEnd,
  trimSpacesStart,
  YamlError,
  YamlFlow,
  type YamlValue,
} from "./yaml-scalar.js";

/** A line with content other than a comment. */
interface Row {
  readonly indent: number;
  readonly text: string;
}

/**
 * Reads a YAML map as used in frontmatter: nested maps and lists, in block and flow style, and scalars of all styles.
 * Throws a `YamlError` for anchors, aliases, tags, merge keys, complex keys and duplicate keys. Also throws for values
 * that JSON cannot represent, control characters, and line breaks other than LF and CR LF.
 */
export function readYaml(text: string): { [key: string]: YamlValue } {
  checkCharacters(text);
  const reader = new YamlReader(text);
  const first = reader.row();
  if (first === undefined) return {};
  if (first.indent > 0) throw reader.errorHere("the first line is indented");
  const map = first.text.startsWith("{") ? reader.flowMap() : reader.map(0, 0);
  if (reader.row() !== undefined) throw reader.errorHere("its indentation does not match the lines before it");
  return map;
}

class YamlReader {
  readonly #lines: string[];
  /** The index in `#text` at which each line begins. */
  readonly #starts: number[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#lines = text.split(/\r?\n/);
    // Drop the empty string after the last line break.
    if (this.#lines.at(-1) === "") this.#lines.pop();
    this.#text = this.#lines.join("\n");
    let start = 0;
    for (const line of this.#lines) {
      this.#starts.push(start);
      start += line.length + 1;
    }
  }

  errorHere(message: string): YamlError {
    return new YamlError(this.#at + 1, message);
  }

  /** Skips empty lines and comments, and returns the line after them. Undefined at the end. */
  row(): Row | undefined {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      const text = trimSpacesStart(line);
      if (text === "" || text.startsWith("#")) continue;
      const indent = line.length - text.length;
      if (line.slice(0, indent).includes("\t")) throw this.errorHere("tabs are not allowed in the indentation");
      if (/^(?:---|\.\.\.)(?:[ \t]|$)/.test(line)) throw this.errorHere("only one document is allowed");
      return { indent, text };
    }
    return undefined;
  }

  /** Reads the whole text as one map in braces. */
  flowMap(): { [key: string]: YamlValue } {
    // Safe: the text begins with a brace.
    return this.#flow(this.#starts[this.#at] ?? 0, -1, 0) as { [key: string]: YamlValue };
  }

  map(indent: number, depth: number): { [key: string]: YamlValue } {
    checkDepth(depth, this.#at + 1);
    const map: { [key: string]: YamlValue } = {};
    for (let row = this.row(); row?.indent === indent && !isItem(row.text); row = this.row()) {
      const line = this.#at + 1;
      const key = keyOf(row.text);
      if (key === undefined) throw this.errorHere("expected a key, a colon and a value");
      const name = key.quoted ? key.key : plainKeyScalar(key.key, line);
      addMember(map, name, this.#valueAt(indent, indent + key.length, depth, true), line);
    }
    return map;
  }

  #list(indent: number, depth: number): YamlValue[] {
    checkDepth(depth, this.#at + 1);
    const list: YamlValue[] = [];
    for (let row = this.row(); row?.indent === indent && isItem(row.text); row = this.row()) {
      const inner = trimSpacesStart(row.text.slice(1));
      const column = indent + row.text.length - inner.length;
      if (isItem(inner) || (keyOf(inner) !== undefined && !"[{".includes(inner.charAt(0)))) {
        // The dash counts as indentation of a map or list that begins in the same line.
        this.#lines[this.#at] = " ".repeat(column) + inner;
        list.push(isItem(inner) ? this.#list(column, depth + 1) : this.map(column, depth + 1));
      } else list.push(this.#valueAt(indent, column, depth, false));
    }
    return list;
  }

  /**
   * Reads the value that begins at a column of the current line. Its further lines are indented deeper than `indent`.
   */
  #valueAt(indent: number, column: number, depth: number, ofKey: boolean): YamlValue {
    const line = this.#lines[this.#at] ?? "";
    const text = trimSpacesStart(line.slice(column));
    if (text === "" || text.startsWith("#")) return this.#valueBelow(indent, depth, ofKey);
    const begin = (this.#starts[this.#at] ?? 0) + line.length - text.length;
    const first = text.charAt(0);
    if (first === "|" || first === ">") return this.#block(indent, text);
    if (first === '"' || first === "'") {
      const end = quoteEnd(this.#text, begin);
      if (end === undefined) throw this.errorHere("a quote is not closed");
      const value = quotedScalar(first, this.#text.slice(begin + 1, end), this.#at + 1);
      this.#skipTo(end + 1, indent, false);
      return value;
    }
    return first === "[" || first === "{" ? this.#flow(begin, indent, depth) : this.#plain(indent, text);
  }

  /** Reads a value in the lines below its key or dash. */
  #valueBelow(indent: number, depth: number, ofKey: boolean): YamlValue {
    this.#at++;
    const row = this.row();
    if (row === undefined || row.indent < indent) return null;
    if (isItem(row.text) && (row.indent > indent || (ofKey && row.indent === indent)))
      return this.#list(row.indent, depth + 1);
    if (row.indent <= indent) return null;
    const isMap = keyOf(row.text) !== undefined && !"[{".includes(row.text.charAt(0));
    return isMap ? this.map(row.indent, depth + 1) : this.#valueAt(indent, row.indent, depth, false);
  }

  #flow(begin: number, indent: number, depth: number): YamlValue {
    const flow = new YamlFlow(this.#text, begin);
    try {
      const value = flow.value(depth + 1);
      this.#skipTo(flow.at, indent, true);
      return value;
    } catch (error) {
      if (error instanceof YamlError && error.line === 0) throw this.errorHere(error.message);
      throw error;
    }
  }

  /**
   * Moves to the line after a value that ends at index `end` of the text. Throws if a line of the value is not indented
   * deeper than `indent`, or if text follows the value.
   */
  #skipTo(end: number, indent: number, inBrackets: boolean): void {
    while ((this.#starts[this.#at + 1] ?? Number.POSITIVE_INFINITY) <= end) {
      this.#at++;
      const line = this.#lines[this.#at] ?? "";
      const isEnd = inBrackets && /^ *[\]}]/.test(line) && line.search(/[^ \t]/) === indent;
      if (trimSpaces(line) !== "" && line.search(/[^ \t]/) <= indent && !isEnd)
        throw this.errorHere("it must be indented deeper than its key");
    }
    const rest = (this.#lines[this.#at] ?? "").slice(end - (this.#starts[this.#at] ?? 0));
    if (!/^[ \t]*$|^[ \t]+#/.test(rest))
      throw this.errorHere(`unexpected text after a value: ${trimSpaces(rest).slice(0, 40)}`);
    this.#at++;
  }

  #plain(indent: number, first: string): YamlValue {
    const line = this.#at + 1;
    checkPlainStart(first, line);
    const lines: string[] = [];
    let text = first;
    for (;;) {
      const comment = text.search(/[ \t]#/);
      const part = trimSpaces(comment === -1 ? text : text.slice(0, comment));
      if (/:(?:[ \t]|$)/.test(part)) throw this.errorHere("text with a colon and a space must be quoted");
      lines.push(part);
      this.#at++;
      if (comment !== -1) break;
      const next = this.#continuation(indent, lines);
      if (next === undefined) break;
      text = next;
    }
    return plainScalar(foldLines(lines), line);
  }

  /**
   * Returns the next line of a plain scalar, or undefined if there is none. Adds the empty lines before it to `lines`.
   */
  #continuation(indent: number, lines: string[]): string | undefined {
    let ahead = this.#at;
    while (ahead < this.#lines.length && trimSpaces(this.#lines[ahead] ?? "") === "") ahead++;
    const line = this.#lines[ahead] ?? "";
    const text = trimSpaces(line);
    if (text === "" || text.startsWith("#") || line.search(/[^ \t]/) <= indent) return undefined;
    for (; this.#at < ahead; this.#at++) {
      if (this.#lines[this.#at]?.includes("\t")) throw this.errorHere("tabs are not allowed in the indentation");
      lines.push("");
    }
    if (line.slice(0, line.search(/[^ \t]/)).includes("\t"))
      throw this.errorHere("tabs are not allowed in the indentation");
    return text;
  }

  #block(indent: number, header: string): string {
    const found = /^[|>](?:([1-9])([-+]?)|([-+]?)([1-9]?))(?:[ \t]+#.*|[ \t]*)$/.exec(header);
    if (found === null) throw this.errorHere(`${header.slice(0, 20)} is not a valid block header`);
    const chomp = found[2] ?? found[3];
    const digit = found[1] ?? found[4];
    this.#at++;
    const lines = this.#blockLines(indent, digit === undefined || digit === "" ? undefined : indent + Number(digit));
    let empty = 0;
    while (lines.at(-1) === "") {
      lines.pop();
      empty++;
    }
    const text = header.startsWith("|") ? lines.join("\n") : foldBlock(lines);
    if (chomp === "-") return text;
    return chomp === "+"
      ? text + "\n".repeat(empty + (lines.length > 0 ? 1 : 0))
      : text + (lines.length > 0 ? "\n" : "");
  }

  #blockLines(indent: number, given: number | undefined): string[] {
    const lines: string[] = [];
    let column = given;
    let longest = 0;
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      const at = line.search(/[^ ]/);
      if (at === -1) {
        longest = Math.max(longest, line.length);
        lines.push(column === undefined ? "" : line.slice(column));
        continue;
      }
      if (at <= indent || (column !== undefined && at < column)) break;
      if (column === undefined && longest > at)
        throw this.errorHere("the first line is indented less than the empty ones above it");
      column ??= at;
      lines.push(line.slice(column));
    }
    return lines;
  }
}

const isItem = (text: string) => /^-(?:[ \t]|$)/.test(text);

/** Returns the key at the beginning of a line, and its length including the colon. Undefined if there is no key. */
function keyOf(text: string): { key: string; quoted: boolean; length: number } | undefined {
  const first = text.charAt(0);
  if (first === '"' || first === "'") {
    const end = quoteEnd(text, 0);
    const colon = end === undefined ? null : /^[ \t]*:(?=[ \t]|$)/.exec(text.slice(end + 1));
    if (end === undefined || colon === null) return undefined;
    return { key: quotedScalar(first, text.slice(1, end), 0), quoted: true, length: end + 1 + colon[0].length };
  }
  const colon = text.search(/:(?:[ \t]|$)/);
  const comment = text.search(/[ \t]#/);
  if (colon === -1 || (comment !== -1 && comment < colon) || "&*!|>@`%?{}[],#".includes(first)) return undefined;
  return { key: trimSpacesEnd(text.slice(0, colon)), quoted: false, length: colon + 1 };
}

/** Folds the lines of a `>` block. Lines that are indented deeper keep their line breaks. */
function foldBlock(lines: readonly string[]): string {
  let text = "";
  let breaks = 0;
  let deeper = true;
  for (const [index, line] of lines.entries()) {
    if (line === "") {
      breaks++;
      continue;
    }
    const isDeeper = /^[ \t]/.test(line);
    if (index === breaks && text === "") text = "\n".repeat(breaks) + line;
    else if (isDeeper || deeper) text += "\n".repeat(breaks + 1) + line;
    else text += (breaks === 0 ? " " : "\n".repeat(breaks)) + line;
    breaks = 0;
    deeper = isDeeper;
  }
  return text;
}
