import { McpError } from "../../protocol/error.js";

/** The names in `{{…}}`, read from the text's type. */
export type PlaceholderNames<T extends string, Found = never> = string extends T
  ? string
  : T extends `${string}{{${infer Name}}}${infer Rest}`
    ? PlaceholderNames<Rest, Found | Trimmed<Name>>
    : Found;

type Trimmed<T extends string> = T extends ` ${infer Rest}` | `${infer Rest} ` ? Trimmed<Rest> : T;

/** A text with placeholders, ready to be filled in. It can be given to `prompt` as its handler. */
export interface PromptTemplate<T extends string = string> {
  (values: { readonly [K in PlaceholderNames<T>]?: string | undefined }): string;
  /** The names of its placeholders, in order. */
  readonly placeholders: readonly string[];
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/**
 * Makes a renderer of a text with `{{name}}` placeholders; `\{{` stands for two plain braces. Throws when a placeholder is
 * not closed or has no proper name.
 *
 * Values go in as they are and are never read as templates themselves; a missing one leaves nothing.
 */
export function promptTemplate<const T extends string>(text: T): PromptTemplate<T> {
  const parts = parse(text);
  const render = (values: Readonly<Record<string, string | undefined>>): string =>
    parts
      .map((part) => ("text" in part ? part.text : Object.hasOwn(values, part.name) ? (values[part.name] ?? "") : ""))
      .join("");
  const names = new Set(parts.flatMap((part) => ("name" in part ? [part.name] : [])));
  return Object.assign(render, { placeholders: [...names] });
}

/** True for what `promptTemplate` made. */
export function isPromptTemplate(value: unknown): value is PromptTemplate {
  return typeof value === "function" && "placeholders" in value && Array.isArray(value.placeholders);
}

type Part = { text: string } | { name: string };

function parse(text: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{{", at);
    if (open === -1) break;
    if (text[open - 1] === "\\") {
      parts.push({ text: `${text.slice(at, open - 1)}{{` });
      at = open + 2;
      continue;
    }
    const close = text.indexOf("}}", open);
    const name = text.slice(open + 2, close === -1 ? open + 42 : close).trim();
    if (close === -1 || !NAME.test(name)) throw unusable(text, open, name);
    if (open > at) parts.push({ text: text.slice(at, open) });
    parts.push({ name });
    at = close + 2;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}

function unusable(text: string, open: number, name: string): McpError {
  const line = text.slice(0, open).split("\n").length;
  return new McpError("invalid_definition", `the placeholder "{{${name}" in line ${line} of a prompt cannot be read`, {
    fix: "Write {{name}} with letters, digits, _, . and -; write \\{{ for two plain braces.",
  });
}
