// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import type { ConfigDialect } from "./config-dialect.js";

/** A part of a configuration string: literal text, or a reference to fill in. */
export type TextPart = string | Reference;

/**
 * Names of folders and of the path separator, as in `${userHome}`. Other names without a prefix are environment
 * variables.
 */
export const PLACES = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"] as const;

/** A reference to fill in. */
export type Reference =
  /** `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}`, and `$NAME` in dialects that support it. */
  | {
      readonly kind: "env";
      readonly name: string;
      readonly otherwise?: readonly TextPart[] | undefined;
      readonly bare?: true;
    }
  /** `${file:path}` */
  | { readonly kind: "file"; readonly path: readonly TextPart[] }
  /** `${input:id}` */
  | { readonly kind: "input"; readonly id: string }
  /** `${workspaceFolder}` and similar names. */
  | { readonly kind: "place"; readonly name: (typeof PLACES)[number] };

/**
 * The reason why a string is not a valid template, or cannot be written in a dialect. The message contains no text of
 * the string except known prefixes and place names.
 */
export class ReferenceFlaw extends Error {}

/** Maximum nesting of references, as in `${A:-${B:-c}}`. */
const MAX_NESTING = 8;
/** Names of variables, as shells and Windows allow them. */
const VARIABLE = /^[A-Za-z_][\w.()-]{0,254}$/;
const BARE_VARIABLE = /^[A-Za-z_]\w{0,254}/;

/**
 * Splits a string at its references. `$${` is the escape for `${`. `bare` makes `$NAME` a reference as well. Throws a
 * `ReferenceFlaw` for an invalid reference.
 */
export function parseReferences(text: string, bare = false, depth = 0): TextPart[] {
  if (depth > MAX_NESTING) throw new ReferenceFlaw(`nests references more than ${MAX_NESTING} deep (MAX_NESTING)`);
  const parts: TextPart[] = [];
  let literal = "";
  const push = (reference: Reference) => {
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(reference);
  };
  let at = 0;
  while (at < text.length) {
    const dollar = text.indexOf("$", at);
    if (dollar < 0) break;
    literal += text.slice(at, dollar);
    at = dollar;
    if (text.startsWith("$${", at)) {
      literal += "${";
      at += 3;
    } else if (text[at + 1] === "{") {
      const end = closingBrace(text, at + 2);
      push(referenceIn(text.slice(at + 2, end), bare, depth + 1));
      at = end + 1;
    } else {
      const name = bare ? BARE_VARIABLE.exec(text.slice(at + 1))?.[0] : undefined;
      if (name === undefined) literal += "$";
      else push({ kind: "env", name, bare: true });
      at += 1 + (name?.length ?? 0);
    }
  }
  literal += text.slice(at);
  if (literal !== "") parts.push(literal);
  return parts;
}

function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "}" && --open === 0) return at;
    if (text.startsWith("${", at)) open++;
  }
  throw new ReferenceFlaw("has a `${` without a closing `}`");
}

function referenceIn(inner: string, bare: boolean, depth: number): Reference {
  const place = PLACES.find((name) => name === inner);
  if (place !== undefined) return { kind: "place", name: place };
  const [, prefix, rest = ""] = /^(env|file|input|command|config):([\s\S]*)$/.exec(inner) ?? [];
  if (prefix === "file" && rest !== "") return { kind: "file", path: parseReferences(rest, bare, depth) };
  if (prefix === "input" && /^[^\s${}]{1,255}$/.test(rest)) return { kind: "input", id: rest };
  if (prefix === "command" || prefix === "config") {
    throw new ReferenceFlaw(`has a \`\${${prefix}:…}\`, which only its own editor can fill in`);
  }
  const variable = prefix === "env" ? rest : inner;
  const mark = variable.indexOf(":-");
  const name = mark < 0 ? variable : variable.slice(0, mark);
  if ((prefix !== undefined && prefix !== "env") || !VARIABLE.test(name)) {
    throw new ReferenceFlaw("has a `${…}` that is not a valid reference");
  }
  const otherwise = mark < 0 ? undefined : parseReferences(variable.slice(mark + 2), bare, depth);
  return { kind: "env", name, otherwise };
}

/**
 * Returns the parts as one string in the notation of a dialect. Throws a `ReferenceFlaw` for references that the
 * dialect does not support.
 */
export function renderReferences(parts: readonly TextPart[], dialect: ConfigDialect): string {
  const texts = parts.map((part) => (typeof part === "string" ? literal(part, dialect) : reference(part, dialect)));
  // A literal `$` before `${` would form the escape `$${`.
  const dollar = parts.some((part, at) => typeof part === "string" && part.endsWith("$") && at < parts.length - 1);
  if (dollar && dialect === "parley") throw new ReferenceFlaw("has a `$` directly before a reference");
  return texts.join("");
}

/** Escapes a literal string for use as a template in the `parley` dialect. */
export function asTemplate(text: string): string {
  // A function, because `$$` has a special meaning in a replacement string.
  return text.replaceAll("${", () => "$${");
}

function literal(text: string, dialect: ConfigDialect): string {
  if (dialect === "parley") return asTemplate(text);
  if (dialect === "codex" || !text.includes("${")) return text;
  throw new ReferenceFlaw("has a literal `${`");
}

function reference(part: Reference, dialect: ConfigDialect): string {
  if (part.kind === "env") return variable(part, dialect);
  if (dialect === "parley") return parleyReference(part, dialect);
  if (part.kind === "place" && (dialect === "vscode" || dialect === "cursor")) return `\${${part.name}}`;
  if (part.kind === "input" && dialect === "vscode") return `\${input:${part.id}}`;
  throw new ReferenceFlaw(`uses \`\${${part.kind === "place" ? part.name : `${part.kind}:…`}}\``);
}

function parleyReference(part: Exclude<Reference, { kind: "env" }>, dialect: ConfigDialect): string {
  if (part.kind === "place") return `\${${part.name}}`;
  return part.kind === "input" ? `\${input:${part.id}}` : `\${file:${renderReferences(part.path, dialect)}}`;
}

function variable({ name, otherwise }: Extract<Reference, { kind: "env" }>, dialect: ConfigDialect): string {
  if (dialect === "codex") throw new ReferenceFlaw("uses an environment variable");
  const prefix = dialect === "vscode" || dialect === "cursor" ? "env:" : "";
  if (otherwise === undefined) return `\${${prefix}${name}}`;
  if (prefix !== "") throw new ReferenceFlaw("uses a default for a variable");
  return `\${${name}:-${renderReferences(otherwise, dialect)}}`;
}
