import { isObject } from "../../jsonrpc/message.js";
import type { Skill, SkillResource } from "../../protocol/features/skills.js";
import { frontmatterProblem } from "./frontmatter.js";
import { MAX_SKILL_BYTES, MAX_SKILL_FILES, pathInSkill, pathProblem, SkillPaths, skillRoot } from "./skill-path.js";
import type { YamlValue } from "./yaml/yaml-scalar.js";

/** A valid entry of a skill. */
export interface CheckedSkill {
  readonly entry: Skill;
  /** The URI of the skill's directory. */
  readonly root: string;
  /** The files by path. Undefined for a dynamic skill, which lists no files. */
  readonly files: ReadonlyMap<string, SkillResource> | undefined;
}

/**
 * Validates an entry from a server. Returns the problem as a string if the entry is invalid.
 *
 * Spec: Skills, "Skill Entries", https://github.com/modelcontextprotocol/ext-skills
 */
export function checkSkill(value: unknown): CheckedSkill | string {
  if (!isObject(value)) return "it is not an object";
  const { uri, frontmatter, resources, _meta } = value;
  if (typeof uri !== "string") return "it has no `uri`";
  const root = skillRoot(uri);
  if (root === undefined) return "its `uri` is not that of a `SKILL.md` in a directory";
  const problem = frontmatterProblem(frontmatter);
  if (problem !== undefined || !isObject(frontmatter)) return problem ?? "";
  const directory = root.slice(root.lastIndexOf("/") + 1);
  if (frontmatter["name"] !== directory)
    return `its name ${JSON.stringify(frontmatter["name"])} differs from the name of its directory, ${JSON.stringify(directory)}`;
  const files = resources === "dynamic" ? undefined : checkResources(root, uri, resources);
  if (typeof files === "string") return files;
  const entry: Skill = {
    uri,
    // Safe: name and description were checked, and the type promises nothing about other fields.
    frontmatter: frontmatter as Skill["frontmatter"],
    resources: files === undefined ? "dynamic" : [...files.values()],
    ...(isObject(_meta) ? { _meta } : {}),
  };
  return { entry, root, files };
}

function checkResources(root: string, uri: string, resources: unknown): Map<string, SkillResource> | string {
  if (!Array.isArray(resources)) return '`resources` is neither a list nor "dynamic"';
  if (resources.length > MAX_SKILL_FILES)
    return `it has ${resources.length} files, and at most ${MAX_SKILL_FILES} are allowed`;
  const files = new Map<string, SkillResource>();
  const paths = new SkillPaths();
  let total = 0;
  for (const file of resources as unknown[]) {
    if (!isObject(file) || typeof file["uri"] !== "string") return "a file has no `uri`";
    const { uri: address, digest, size } = file as Record<string, unknown> & { uri: string };
    const path = pathInSkill(root, address);
    const shown = JSON.stringify(address);
    if (path === undefined) return `the file ${shown} is not in the skill's directory`;
    const problem = pathProblem(path);
    if (problem !== undefined) return `the path of the file ${shown} ${problem}`;
    if (typeof digest !== "string" || !/^sha256:[0-9a-f]{64}$/.test(digest))
      return `the file ${shown} has no valid digest`;
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0)
      return `the file ${shown} has no valid size`;
    // Normalize the path, because two Unicode forms of one path refer to the same file.
    const key = path.normalize("NFC");
    if (files.has(key)) return `the file ${shown} is listed twice`;
    const known = paths.add(key);
    if (known !== undefined) return `the path of the file ${shown} collides with ${JSON.stringify(known)}`;
    files.set(key, { uri: address, digest, size });
    total += size;
    if (total > MAX_SKILL_BYTES) return `its files have more than ${MAX_SKILL_BYTES} bytes`;
  }
  if (![...files.values()].some((file) => file.uri === uri)) return "its files do not include its `SKILL.md`";
  return files;
}

/** The first field in which two frontmatters differ. Undefined if they are equal. */
export function differingField(read: Record<string, unknown>, stated: Record<string, unknown>): string | undefined {
  const fields = new Set([...Object.keys(read), ...Object.keys(stated)]);
  for (const field of fields) {
    const both = Object.hasOwn(read, field) && Object.hasOwn(stated, field);
    // Safe: `read` was parsed from YAML, so each of its values is a `YamlValue`.
    if (!both || !isSame(read[field] as YamlValue, stated[field])) return field;
  }
  return undefined;
}

/** Compares values. The recursion is bounded by `read`, whose depth the YAML reader limits. */
function isSame(read: YamlValue, stated: unknown): boolean {
  if (typeof read !== "object" || read === null) return read === stated;
  if (Array.isArray(read)) {
    return (
      Array.isArray(stated) && read.length === stated.length && read.every((item, index) => isSame(item, stated[index]))
    );
  }
  return isObject(stated) && differingField(read, stated) === undefined;
}
