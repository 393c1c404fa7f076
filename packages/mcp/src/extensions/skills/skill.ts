import { isObject } from "../../jsonrpc/message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { SkillFrontmatter } from "../../protocol/features/skills.js";
import type { RequestContext } from "../../server/contract/context.js";
import { checkReservedMetadata, frontmatterProblem, readSkillText, writeSkillText } from "./frontmatter.js";
import { pathProblem, SKILL_FILE, SkillPaths } from "./skill-path.js";

/** Generates content on each read. Such content has no digest, so hosts may decline a skill with such content. */
export type GeneratedContent = (ctx: RequestContext) => string | Uint8Array | Promise<string | Uint8Array>;

/** The content of a file of a skill. */
export type SkillContent = string | Uint8Array | GeneratedContent;

/** A skill defined in code, for `skill`. */
export interface SkillDefinition {
  /** The name: at most 64 lowercase letters, digits and single hyphens. */
  name: string;
  /**
   * The folders above the skill in its URI, such as `acme/billing` for `skill://acme/billing/refunds/SKILL.md`.
   * Default: none.
   */
  prefix?: string | undefined;
  /** The purpose of the skill and when to use it. At most 1024 characters. */
  description: string;
  /** The instructions, in Markdown. A function generates them for each reader and makes the skill dynamic. */
  body: string | ((ctx: RequestContext) => string | Promise<string>);
  /**
   * Further files by their path inside the skill, such as `references/forms.md`. A function as content makes the skill
   * dynamic.
   */
  files?: Readonly<Record<string, SkillContent>> | undefined;
  /** Further fields of the frontmatter, such as `license`. Default: none. */
  frontmatter?: Readonly<Record<string, unknown>> | undefined;
}

/** A skill that `skills` can serve. Created by `skill`. */
export interface SkillOffer {
  /** Distinguishes a skill from a folder and from options. */
  readonly kind: "skill";
  /** The path in the skill's URI, such as `acme/billing/refunds`: its prefix and its name. */
  readonly path: string;
  /** All fields of the frontmatter, including name and description. */
  readonly frontmatter: SkillFrontmatter;
  /** All files by path, including `SKILL.md`. */
  readonly files: ReadonlyMap<string, SkillContent>;
}

/**
 * Defines a skill, for `skills`. Throws `invalid_definition` for an invalid name, description or path.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/skills.md | Skills}
 */
export function skill(definition: SkillDefinition): SkillOffer {
  checkOptions("skill", definition, "name prefix description body files frontmatter");
  const { name, prefix, description, body, files = {}, frontmatter: further = {} } = definition;
  // A JSON copy, so that later changes to the caller's object have no effect.
  const frontmatter = jsonCopy({ ...{ name, description }, ...further, name, description }) as SkillFrontmatter;
  const what = `the skill ${JSON.stringify(name)}`;
  const problem = frontmatterProblem(frontmatter);
  if (problem !== undefined) throw new McpError("invalid_definition", `${what} is refused: ${problem}`);
  checkReservedMetadata(what, frontmatter);
  const content = bodyOf(what, frontmatter, body);
  const path = pathOf(what, name, prefix);
  const checked = checkedFiles(what, [[SKILL_FILE, content], ...Object.entries(files)]);
  return { kind: "skill", path, frontmatter, files: checked };
}

function pathOf(what: string, name: string, prefix: unknown): string {
  const path = prefix === undefined ? name : `${String(prefix)}/${name}`;
  const isText = prefix === undefined || typeof prefix === "string";
  const problem = isText ? pathProblem(path) : "has a prefix that is not a string";
  if (problem === undefined) return path;
  throw new McpError("invalid_definition", `${what} is refused: its path ${JSON.stringify(path)} ${problem}`, {
    fix: "Pass folders as `prefix`, such as `acme/billing`, without a slash at the beginning or the end.",
  });
}

function bodyOf(what: string, frontmatter: SkillFrontmatter, body: unknown): SkillContent {
  if (typeof body === "function") {
    // Not validated here: the result is checked on each read.
    const generate = body as (ctx: RequestContext) => string | Promise<string>;
    return async (ctx) => {
      const text: unknown = await generate(ctx);
      if (typeof text === "string") return writeSkillText(frontmatter, text);
      throw new McpError("misuse", `\`body\` of ${what} returned ${typeof text}, not a string`);
    };
  }
  if (typeof body !== "string")
    throw new McpError("invalid_definition", `\`body\` of ${what} is not a string or a function`);
  return writeSkillText(frontmatter, body);
}

/**
 * Creates a skill from the files of a folder. `what` names the skill in errors. The last segment of `path` is the name
 * of the folder.
 */
export function skillOfFiles(what: string, path: string, files: readonly [string, Uint8Array][]): SkillOffer {
  const folder = path.slice(path.lastIndexOf("/") + 1);
  const checked = checkedFiles(what, files);
  const manifest = checked.get(SKILL_FILE);
  const text = manifest === undefined ? undefined : decodeText(manifest);
  const refused = (reason: string) =>
    new McpError("invalid_definition", `${what} is refused: ${SKILL_FILE}: ${reason}`, {
      fix: "Correct the file; see https://agentskills.io/specification.",
    });
  if (text === undefined) throw refused("it is not a file with text in UTF-8");
  let frontmatter: SkillFrontmatter;
  try {
    frontmatter = readSkillText(text).frontmatter;
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error));
  }
  if (frontmatter.name !== folder)
    throw refused(`its name "${frontmatter.name}" differs from the name of its folder, "${folder}"`);
  checkReservedMetadata(what, frontmatter);
  return { kind: "skill", path, frontmatter, files: checked };
}

/** Throws for invalid paths and contents, and for two paths that some file system would treat as one. */
function checkedFiles<C extends SkillContent>(what: string, files: readonly [string, C][]): Map<string, C> {
  const checked = new Map<string, C>();
  const paths = new SkillPaths();
  for (const [path, content] of files) {
    const refused = (why: string) =>
      new McpError("invalid_definition", `${what} is refused: the path ${JSON.stringify(path)} ${why}`, {
        fix: "Rename the file.",
      });
    const problem = pathProblem(path);
    if (problem !== undefined) throw refused(problem);
    if (typeof content !== "string" && typeof content !== "function" && !(content instanceof Uint8Array))
      throw refused("has no string, bytes or function as content");
    const known = paths.add(path);
    if (known !== undefined) throw refused(`collides with ${JSON.stringify(known)}`);
    checked.set(path, content);
  }
  return checked;
}

/**
 * Decodes bytes as text. Undefined unless they are UTF-8 without NULs. Keeps a byte order mark, because digests include
 * it.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Decodes text that was just encoded. Encoding replaces lone surrogates, so the original text would not match its
 * digest.
 */
export function encodedText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function jsonCopy(value: Record<string, unknown>): unknown {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(value));
    if (isObject(copy)) return copy;
  } catch {
    // Reported below.
  }
  throw new McpError("invalid_definition", "the frontmatter of a skill cannot be written as JSON");
}
