import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { SkillFrontmatter } from "../../protocol/features/skills.js";
import { nameProblem } from "./skill-path.js";
import { readYaml } from "./yaml/read-yaml.js";
import { YamlError } from "./yaml/yaml-scalar.js";

/** Maximum length of a skill's frontmatter, in characters. Longer frontmatter is refused. */
const MAX_FRONTMATTER_LENGTH = 65_536;
// Spec: Agent Skills, "Frontmatter", https://agentskills.io/specification#frontmatter
const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_COMPATIBILITY_LENGTH = 500;

/** The content of a `SKILL.md`. */
export interface SkillText {
  readonly frontmatter: SkillFrontmatter;
  /** The text after the frontmatter. */
  readonly body: string;
}

/** Reads a `SKILL.md`. Throws an `Error` whose message states the problem and, for a syntax error, its line. */
export function readSkillText(text: string): SkillText {
  const found = /^\ufeff?---[ \t]*\r?\n/.exec(text);
  if (found === null) throw new Error("line 1: it does not begin with frontmatter between two lines `---`");
  const rest = text.slice(found[0].length);
  const end = endOf(rest);
  if (end === undefined) throw new Error("line 1: its frontmatter is not closed by a line `---`");
  if (end.index > MAX_FRONTMATTER_LENGTH)
    throw new Error(`its frontmatter is longer than ${MAX_FRONTMATTER_LENGTH} characters`);
  let frontmatter: Record<string, unknown>;
  try {
    frontmatter = readYaml(rest.slice(0, end.index));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    // The frontmatter begins in line 2 of the file.
    throw new Error(`line ${error.line + 1}: ${error.message}`);
  }
  const problem = frontmatterProblem(frontmatter);
  if (problem !== undefined) throw new Error(problem);
  // Safe: name and description were checked, and the type promises nothing about other fields.
  return { frontmatter: frontmatter as SkillFrontmatter, body: rest.slice(end.next) };
}

/**
 * Finds the closing line `---`. Returns its index and that of the next line. Only LF and CR LF end a line. `^` and `$`
 * of a multiline expression would also match at characters that other readers treat as text. Such a match could end the
 * frontmatter before fields that those readers see.
 */
function endOf(text: string): { index: number; next: number } | undefined {
  for (let index = 0; index < text.length; ) {
    const lineFeed = text.indexOf("\n", index);
    const next = lineFeed === -1 ? text.length : lineFeed + 1;
    const marker = text.startsWith("---", index) && /^---[ \t]*(?:\r?\n)?$/.test(text.slice(index, next));
    if (marker) return { index, next };
    index = next;
  }
  return undefined;
}

/** The first violation of the Agent Skills format. Undefined if the frontmatter is valid. */
export function frontmatterProblem(frontmatter: unknown): string | undefined {
  if (!isObject(frontmatter)) return "it has no frontmatter";
  const { name, description, license, compatibility, metadata } = frontmatter;
  const wrongName = nameProblem(name);
  if (wrongName !== undefined) return wrongName;
  if (typeof description !== "string" || description.trim() === "") return "it has no description";
  if (description.length > MAX_DESCRIPTION_LENGTH)
    return `its description is longer than ${MAX_DESCRIPTION_LENGTH} characters`;
  if (license !== undefined && typeof license !== "string") return "its license is not a string";
  if (
    compatibility !== undefined &&
    (typeof compatibility !== "string" || compatibility.length > MAX_COMPATIBILITY_LENGTH)
  )
    return `its compatibility is not a string of at most ${MAX_COMPATIBILITY_LENGTH} characters`;
  if (metadata !== undefined && !isObject(metadata)) return "its metadata is not a map";
  return undefined;
}

/** Throws for `metadata` keys that are reserved for extensions of the protocol. No such key is defined so far. */
export function checkReservedMetadata(what: string, { metadata }: SkillFrontmatter): void {
  const reserved = Object.keys(isObject(metadata) ? metadata : {}).find((key) =>
    key.startsWith("io.modelcontextprotocol/"),
  );
  if (reserved === undefined) return;
  throw new McpError(
    "invalid_definition",
    `${what} has the key "${reserved}" in its metadata, which the protocol reserves`,
    {
      fix: "Use a prefix of your own.",
    },
  );
}

/** Serializes frontmatter and body as a `SKILL.md`. */
export function writeSkillText(frontmatter: SkillFrontmatter, body: string): string {
  const lines = Object.entries(frontmatter)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${yamlText(key)}: ${yamlText(value)}\n`);
  return `---\n${lines.join("")}---\n${body}`;
}

/** Words that some YAML version reads as another type than text. */
const NOT_TEXT = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** Writes a value as JSON, which is valid YAML. Only strings that every YAML reader reads as text stay unquoted. */
function yamlText(value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z][\w-]*(?: [\w(][\w,.()-]*)*$/.test(value) && !NOT_TEXT.test(value))
    return value;
  // Escape characters that YAML does not allow unescaped, or that YAML 1.1 readers would fold as line breaks.
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
