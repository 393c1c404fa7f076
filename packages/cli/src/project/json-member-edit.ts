import { type Node, parseTree } from "jsonc-parser";

/** A part of a text to replace. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Sets a member of an object inside a text of JSON, and makes the object if there is none. Everything else keeps its bytes. */
export function setJsonMember(text: string, container: string, name: string, value: unknown): string {
  const source = text.trim() === "" ? "{}\n" : text;
  const root = objectTree(source);
  const holder = memberOf(root, container)?.children?.[1];
  if (holder === undefined) return applied(source, insertion(source, root, container, { [name]: value }));
  const present = memberOf(holder, name)?.children?.[1];
  if (present === undefined) return applied(source, insertion(source, holder, name, value));
  const layout = layoutOf(source, holder);
  const written = layout.multiline ? valueText(value, indentAt(source, present.offset), layout) : JSON.stringify(value);
  return applied(source, [{ from: present.offset, to: present.offset + present.length, text: written }]);
}

/** Takes a member of an object out of a text of JSON. Comments stay. */
export function removeJsonMember(text: string, container: string, name: string): string {
  const holder = memberOf(objectTree(text), container)?.children?.[1];
  const members = holder?.children ?? [];
  const at = members.findIndex((member) => nameOf(member) === name);
  const member = members[at];
  if (holder === undefined || member === undefined) return text;
  const before = members[at - 1];
  const start = before === undefined ? holder.offset + 1 : endOf(before);
  const end = endOf(member);
  const left = tokensIn(text, start, member.offset);
  const right = tokensIn(text, end, members[at + 1]?.offset ?? endOf(holder) - 1);
  const edits: Edit[] = [{ from: left.end, to: end, text: "" }];
  if (right.comma !== undefined) edits.push({ from: right.comma, to: right.comma + 1, text: "" });
  else if (left.comma !== undefined) edits.push({ from: left.comma, to: left.comma + 1, text: "" });
  const result = applied(text, edits);
  if (members.length > 1) return result;
  // What an object had between its braces before its only member is not known; most had nothing.
  const close = endOf(holder) - 1 - (text.length - result.length);
  const inside = result.slice(holder.offset + 1, close);
  return inside.trim() === "" ? `${result.slice(0, holder.offset + 1)}${result.slice(close)}` : result;
}

function insertion(text: string, holder: Node, name: string, value: unknown): Edit[] {
  const layout = layoutOf(text, holder);
  const last = holder.children?.at(-1);
  const start = last === undefined ? holder.offset + 1 : endOf(last);
  const close = endOf(holder) - 1;
  const { end, comma } = tokensIn(text, start, close);
  const { multiline, eol, indent } = layout;
  let written = `${JSON.stringify(name)}:${multiline ? ` ${valueText(value, indent, layout)}` : JSON.stringify(value)}`;
  if (multiline) written = `${eol}${indent}${written}`;
  if (comma !== undefined) written += ",";
  if (multiline && last === undefined && !text.slice(end, close).includes("\n"))
    written += `${eol}${indentAt(text, holder.offset)}`;
  const separator: Edit[] = last !== undefined && comma === undefined ? [{ from: start, to: start, text: "," }] : [];
  return [...separator, { from: end, to: end, text: written }];
}

interface Layout {
  readonly multiline: boolean;
  readonly eol: string;
  /** Before the members of the object. */
  readonly indent: string;
  /** One level more. */
  readonly unit: string;
}

function layoutOf(text: string, holder: Node): Layout {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const own = indentAt(text, holder.offset);
  const [first] = holder.children ?? [];
  const leads = first !== undefined && /(?:^|\n)[ \t]*$/.test(text.slice(0, first.offset));
  const inside = text.slice(holder.offset, endOf(holder));
  const multiline = first === undefined ? text.trim().includes("\n") || text.trim() === "{}" : inside.includes("\n");
  return { multiline, eol, unit, indent: leads ? indentAt(text, first.offset) : `${own}${unit}` };
}

function valueText(value: unknown, indent: string, { eol, unit }: Layout): string {
  return JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`);
}

/** The white space at the beginning of the line of a place. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** Where the last comment or comma of a part ends, and where its comma is. Both are places in the whole text. */
function tokensIn(
  text: string,
  from: number,
  to: number,
): { readonly end: number; readonly comma: number | undefined } {
  let [end, comma]: [number, number | undefined] = [from, undefined];
  for (const found of text.slice(from, to).matchAll(BETWEEN)) {
    const at = from + found.index;
    if (found[0] === ",") comma = at;
    end = at + found[0].length;
  }
  return { end, comma };
}

/** What stands between members beside white space. */
const BETWEEN = /\/\/[^\r\n]*|\/\*.*?\*\/|,/gs;

function applied(text: string, edits: readonly Edit[]): string {
  let result = text;
  // From the end, so that places stay; of two at one place the second first.
  for (const { from, to, text: by } of [...edits].reverse().sort((a, b) => b.from - a.from))
    result = result.slice(0, from) + by + result.slice(to);
  return result;
}

function objectTree(text: string): Node {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (tree?.type === "object") return tree;
  throw new Error("the text is no object of JSON");
}

function memberOf(object: Node, name: string): Node | undefined {
  return object.children?.find((member) => nameOf(member) === name);
}

function nameOf(member: Node): unknown {
  return member.children?.[0]?.value;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}
