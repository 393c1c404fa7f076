import { McpError } from "../../protocol/error.js";
import type { Resource } from "../../protocol/features/resources.js";
import { DIRECTORY_MIME_TYPE } from "../../protocol/features/skills.js";
import type { ServedFile, ServedSkill } from "./served-skill.js";
import { SKILL_FILE, SkillPaths, skillUri } from "./skill-path.js";

/** All files and folders of the skills of one server, by URI. */
export interface SkillTree {
  readonly files: ReadonlyMap<string, ServedFile>;
  /** The direct children of each folder. */
  readonly folders: ReadonlyMap<string, readonly Resource[]>;
}

/**
 * The tree of skills whose places were checked. The folders above skills are directories, too.
 *
 * Spec: Skills, "Directory Resources", https://github.com/modelcontextprotocol/ext-skills
 */
export function treeOf(skills: readonly ServedSkill[]): SkillTree {
  const files = new Map<string, ServedFile>();
  const folders = new Map<string, readonly Resource[]>();
  const above = new Map<string, Map<string, Resource>>();
  for (const skill of skills) {
    // A skill inside another one has the same files there.
    for (const [uri, file] of skill.files) files.set(uri, file);
    for (const [uri, children] of skill.folders) folders.set(uri, children);
    for (const [folder, name] of stepsTo(skill.path)) {
      const children = above.get(skillUri(folder)) ?? new Map<string, Resource>();
      const uri = skillUri(`${folder}/${name}`);
      children.set(uri, { uri, name, mimeType: DIRECTORY_MIME_TYPE });
      above.set(skillUri(folder), children);
    }
  }
  for (const [uri, children] of above) if (!folders.has(uri)) folders.set(uri, [...children.values()]);
  return { files, folders };
}

/** The folders above a skill, each with the name of the next one: `acme/billing/refunds` has `acme` and `acme/billing`. */
function stepsTo(path: string): [folder: string, name: string][] {
  const segments = path.split("/");
  return segments.slice(1).map((name, index) => [segments.slice(0, index + 1).join("/"), name]);
}

/**
 * Throws for two skills whose places some file system or client would take for one, and for a skill inside another one that does not
 * list the same files: entries are complete.
 *
 * Spec: Skills, "Nested Skills" and "Resources", https://github.com/modelcontextprotocol/ext-skills
 */
export function checkPlaces(skills: ReadonlyMap<string, ServedSkill>): void {
  const places = new SkillPaths();
  for (const skill of skills.values()) {
    const known = places.add(skill.path, true);
    if (known !== undefined) throw samePlace(skill.path, known);
    for (const [folder] of stepsTo(skill.path)) {
      const outer = skills.get(skillUri(folder, SKILL_FILE));
      if (outer !== undefined) checkNested(skill, outer);
    }
  }
}

/** The error for two skills that are served at one place. */
export function samePlace(path: string, known: string): McpError {
  const what = path === known ? `two skills have the path "${path}"` : `the skill "${path}" collides with "${known}"`;
  return new McpError("invalid_definition", what, {
    fix: "Rename one of them, or put it below another folder.",
  });
}

function checkNested(inner: ServedSkill, outer: ServedSkill): void {
  const root = `${skillUri(inner.path)}/`;
  const uris = new Set([...inner.files.keys(), ...[...outer.files.keys()].filter((uri) => uri.startsWith(root))]);
  for (const uri of uris) {
    const [one, other] = [inner.files.get(uri), outer.files.get(uri)];
    // Content that is made for each reader has no digest: the two must be made by the same function.
    if (one !== undefined && other !== undefined && one.digest === other.digest)
      if (one.digest !== undefined || one.content === other.content) continue;
    const which = `the skill "${inner.path}" lies in the skill "${outer.path}"`;
    throw new McpError("invalid_definition", `${which}, and ${uri} is not the same in both`, {
      fix: "Give both skills the same files there, or serve one of them below another folder.",
    });
  }
}
