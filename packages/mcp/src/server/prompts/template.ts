import { McpError } from "../../protocol/error.js";

/** The names in `{{…}}`, inferred from the literal type of the text. */
export type PlaceholderNames<T extends string, Names = never> = string extends T
  ? string
  : T extends `${string}{{${infer Name}}}${infer Rest}`
    ? PlaceholderNames<Rest, Names | TrimSpaces<Name>>
    : Names;

type TrimSpaces<T extends string> = T extends ` ${infer Rest}` | `${infer Rest} ` ? TrimSpaces<Rest> : T;

/** Renders a text with placeholders. As the handler of a prompt, it requires an argument for each placeholder. */
export interface PromptTemplate<T extends string = string> {
  (values: { readonly [K in PlaceholderNames<T>]?: string | undefined }): string;
  /** The names of the placeholders, in order of appearance. */
  readonly placeholders: readonly string[];
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/**
 * Compiles a text with `{{name}}` placeholders into a function that fills them in. Write `\{{` for two literal braces.
 * Throws if a placeholder is not closed or its name is not valid.
 *
 * Values are inserted unchanged and are never parsed as templates. A missing value becomes empty text.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/prompts.md | Prompts}
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

/** True if the value was created by `promptTemplate`. */
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
  return new McpError("invalid_definition", `"{{${name}" in line ${line} of a prompt is not a valid placeholder`, {
    fix: "Write {{name}} with letters, digits, _, . and -; write \\{{ for two literal braces.",
  });
}
