import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Resource } from "../../protocol/features/resources.js";
import { DIRECTORY_MIME_TYPE, type Skill } from "../../protocol/features/skills.js";
import { mimeTypeOf } from "./mime-type.js";
import { decodeText, encodedText, type GeneratedContent, type SkillOffer } from "./skill.js";
import { MAX_SKILL_BYTES, MAX_SKILL_FILES } from "./skill-limits.js";
import { SKILL_FILE, skillUri } from "./skill-path.js";

/** A file of a skill as clients see it. */
export interface ServedFile {
  readonly resource: Resource;
  readonly content: string | Uint8Array | GeneratedContent;
  /** Undefined for content that is made when it is read. */
  readonly digest: string | undefined;
}

/** A skill as clients see it. */
export interface ServedSkill {
  /** Where it is served, such as `acme/billing/refunds`. */
  readonly path: string;
  readonly entry: Skill;
  /** By URI. */
  readonly files: ReadonlyMap<string, ServedFile>;
  /** The direct children of each folder, by the folder's URI. */
  readonly folders: ReadonlyMap<string, readonly Resource[]>;
}

/** Computes digests and directories. The content is held, so what is read later is what the digests say. */
export function serveSkill(
  { path: skillPath, frontmatter, files }: SkillOffer,
  platform: Pick<Platform, "sha256">,
): ServedSkill {
  const { name } = frontmatter;
  if (files.size > MAX_SKILL_FILES)
    throw tooLarge(name, `it has ${files.size} files, and at most ${MAX_SKILL_FILES} are allowed`);
  const served = new Map<string, ServedFile>();
  for (const [path, content] of files) {
    const file = servedFile(skillPath, path, content, frontmatter, platform);
    served.set(file.resource.uri, file);
  }
  const all = [...served.values()];
  const bytes = all.reduce((sum, { resource }) => sum + (resource.size ?? 0), 0);
  if (bytes > MAX_SKILL_BYTES)
    throw tooLarge(name, `it has ${bytes} bytes, and at most ${MAX_SKILL_BYTES} are allowed`);
  const listed = all.flatMap(({ resource: { uri, size }, digest }) =>
    digest === undefined || size === undefined ? [] : [{ uri, digest, size }],
  );
  const resources = listed.length === all.length ? listed : "dynamic";
  return {
    path: skillPath,
    entry: { uri: skillUri(skillPath, SKILL_FILE), frontmatter, resources },
    files: served,
    folders: foldersOf(skillPath, [...files.keys()], served),
  };
}

function servedFile(
  skill: string,
  path: string,
  content: string | Uint8Array | GeneratedContent,
  { name, description }: Skill["frontmatter"],
  platform: Pick<Platform, "sha256">,
): ServedFile {
  const isManifest = path === SKILL_FILE;
  const named = isManifest ? { name, description } : { name: path.slice(path.lastIndexOf("/") + 1) };
  const uri = skillUri(skill, path);
  if (typeof content === "function") {
    return { resource: { uri, ...named, mimeType: mimeTypeOf(path, true) }, content, digest: undefined };
  }
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const held = typeof content === "string" ? encodedText(bytes) : (decodeText(bytes) ?? bytes.slice());
  const mimeType = mimeTypeOf(path, typeof held === "string");
  return {
    resource: { uri, ...named, mimeType, size: bytes.length },
    content: held,
    digest: digestOf(bytes, platform),
  };
}

/** The digest of bytes as entries have it. */
export function digestOf(bytes: Uint8Array, { sha256 }: Pick<Platform, "sha256">): string {
  return `sha256:${[...sha256(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function foldersOf(
  skill: string,
  paths: readonly string[],
  files: ReadonlyMap<string, ServedFile>,
): Map<string, Resource[]> {
  const folders = new Map<string, Resource[]>([[skillUri(skill), []]]);
  for (const path of paths.toSorted()) {
    const segments = path.split("/");
    for (const [index, name] of segments.entries()) {
      const parent = skillUri(skill, segments.slice(0, index).join("/"));
      const uri = skillUri(skill, segments.slice(0, index + 1).join("/"));
      const file = files.get(uri);
      if (file === undefined && folders.has(uri)) continue;
      folders.get(parent)?.push(file?.resource ?? { uri, name, mimeType: DIRECTORY_MIME_TYPE });
      if (file === undefined) folders.set(uri, []);
    }
  }
  return folders;
}

function tooLarge(name: string, why: string): McpError {
  return new McpError("limit_exceeded", `the skill "${name}" is refused: ${why}`, {
    fix: "Split the skill, or serve large files as resources of their own.",
  });
}
