import type { ConfigDialect } from "./config-dialect.js";
import { type Reference, ReferenceFlaw, type TextPart } from "./text-references.js";

/** The text of a template in the notation of a dialect. Throws a `ReferenceFlaw` for what the dialect cannot express. */
export function renderReferences(parts: readonly TextPart[], dialect: ConfigDialect): string {
  const texts = parts.map((part) => (typeof part === "string" ? literal(part, dialect) : reference(part, dialect)));
  // Together they would be the escape.
  const dollar = parts.some((part, at) => typeof part === "string" && part.endsWith("$") && at < parts.length - 1);
  if (dollar && dialect === "parley") throw new ReferenceFlaw("has a `$` before a reference");
  return texts.join("");
}

/** A text that is meant as it stands, as a template of our own. */
export function asTemplate(text: string): string {
  // A function, because `$$` has a meaning of its own in a replacement.
  return text.replaceAll("${", () => "$${");
}

function literal(text: string, dialect: ConfigDialect): string {
  if (dialect === "parley") return asTemplate(text);
  if (dialect === "codex" || !text.includes("${")) return text;
  throw new ReferenceFlaw("has a `${` that is no reference");
}

function reference(part: Reference, dialect: ConfigDialect): string {
  if (part.kind === "env") return variable(part, dialect);
  if (dialect === "parley") return ourOwn(part, dialect);
  if (part.kind === "place" && (dialect === "vscode" || dialect === "cursor")) return `\${${part.name}}`;
  if (part.kind === "input" && dialect === "vscode") return `\${input:${part.id}}`;
  throw new ReferenceFlaw(`refers to something with \`\${${part.kind === "place" ? part.name : `${part.kind}:…`}}\``);
}

function ourOwn(part: Exclude<Reference, { kind: "env" }>, dialect: ConfigDialect): string {
  if (part.kind === "place") return `\${${part.name}}`;
  return part.kind === "input" ? `\${input:${part.id}}` : `\${file:${renderReferences(part.path, dialect)}}`;
}

function variable({ name, otherwise }: Extract<Reference, { kind: "env" }>, dialect: ConfigDialect): string {
  if (dialect === "codex") throw new ReferenceFlaw("refers to a variable");
  const prefix = dialect === "vscode" || dialect === "cursor" ? "env:" : "";
  if (otherwise === undefined) return `\${${prefix}${name}}`;
  if (prefix !== "") throw new ReferenceFlaw("has a default for a variable");
  return `\${${name}:-${renderReferences(otherwise, dialect)}}`;
}
