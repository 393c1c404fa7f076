import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Resource } from "../../protocol/features/resources.js";
import { DIRECTORY_MIME_TYPE, type Skill } from "../../protocol/features/skills.js";
import { decodeText, encodedText, type GeneratedContent, type SkillOffer } from "./skill.js";
import { MAX_SKILL_BYTES, MAX_SKILL_FILES, SKILL_FILE, SkillPaths, skillUri } from "./skill-path.js";

/** MIME types of common files in skills, by extension. */
const MIME_TYPES: Readonly<Record<string, string>> = {
  md: "text/markdown",
  markdown: "text/markdown",
  txt: "text/plain",
  css: "text/css",
  csv: "text/csv",
  htm: "text/html",
  html: "text/html",
  xml: "application/xml",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
  toml: "application/toml",
  js: "text/javascript",
  mjs: "text/javascript",
  cjs: "text/javascript",
  ts: "text/x-typescript",
  py: "text/x-python",
  rb: "text/x-ruby",
  go: "text/x-go",
  rs: "text/x-rust",
  java: "text/x-java",
  c: "text/x-c",
  h: "text/x-c",
  cpp: "text/x-c++",
  sh: "application/x-sh",
  bash: "application/x-sh",
  ps1: "text/x-powershell",
  sql: "application/sql",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  ico: "image/x-icon",
  pdf: "application/pdf",
  zip: "application/zip",
  gz: "application/gzip",
  wasm: "application/wasm",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
  woff2: "font/woff2",
  ttf: "font/ttf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

/** Returns the MIME type for a file's extension. Falls back to plain text or binary data. */
function mimeTypeOf(path: string, isText: boolean): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const extension = name.includes(".") ? name.slice(name.lastIndexOf(".") + 1).toLowerCase() : "";
  const known = Object.hasOwn(MIME_TYPES, extension) ? MIME_TYPES[extension] : undefined;
  return known ?? (isText ? "text/plain" : "application/octet-stream");
}

/** A file of a skill, as clients see it. */
export interface ServedFile {
  readonly resource: Resource;
  readonly content: string | Uint8Array | GeneratedContent;
  /** The SHA-256 digest. Undefined for content that is generated on each read. */
  readonly digest: string | undefined;
}

/** A skill, as clients see it. */
export interface ServedSkill {
  /** The path in the skill's URI, such as `acme/billing/refunds`. */
  readonly path: string;
  readonly entry: Skill;
  /** The files by URI. */
  readonly files: ReadonlyMap<string, ServedFile>;
  /** The direct children of each folder, by the folder's URI. */
  readonly folders: ReadonlyMap<string, readonly Resource[]>;
}

/**
 * Computes the entry, digests and directories of a skill. Keeps the content in memory, so that later reads match the
 * digests.
 */
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

/** Returns the digest of the bytes in the format used in skill entries: `sha256:` and hex digits. */
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
    fix: "Split the skill, or serve large files as separate resources.",
  });
}

/** All files and folders of a server's skills, by URI. */
export interface SkillTree {
  readonly files: ReadonlyMap<string, ServedFile>;
  /** The direct children of each folder. */
  readonly folders: ReadonlyMap<string, readonly Resource[]>;
}

/**
 * Builds the tree of skills whose paths were checked. It includes the folders above skills.
 *
 * Spec: Skills, "Directory Resources", https://github.com/modelcontextprotocol/ext-skills
 */
export function treeOf(skills: readonly ServedSkill[]): SkillTree {
  const files = new Map<string, ServedFile>();
  const folders = new Map<string, readonly Resource[]>();
  const above = new Map<string, Map<string, Resource>>();
  for (const skill of skills) {
    // A nested skill and the outer skill list the same files in the folder of the nested skill, so the order of the
    // skills does not matter.
    for (const [uri, file] of skill.files) files.set(uri, file);
    for (const [uri, children] of skill.folders) folders.set(uri, children);
    for (const [folder, name] of foldersAbove(skill.path)) {
      const children = above.get(skillUri(folder)) ?? new Map<string, Resource>();
      const uri = skillUri(`${folder}/${name}`);
      children.set(uri, { uri, name, mimeType: DIRECTORY_MIME_TYPE });
      above.set(skillUri(folder), children);
    }
  }
  for (const [uri, children] of above) if (!folders.has(uri)) folders.set(uri, [...children.values()]);
  return { files, folders };
}

/**
 * Returns the folders above a skill, each with the name of the next segment. For `acme/billing/refunds`, these are
 * `acme` with `billing`, and `acme/billing` with `refunds`.
 */
function foldersAbove(path: string): [folder: string, name: string][] {
  const segments = path.split("/");
  return segments.slice(1).map((name, index) => [segments.slice(0, index + 1).join("/"), name]);
}

/**
 * Throws if a file system or client could confuse the paths of two skills. Also throws if a nested skill and the skill
 * around it list different files in the folder of the nested skill, because entries must be complete.
 *
 * Spec: Skills, "Nested Skills" and "Resources", https://github.com/modelcontextprotocol/ext-skills
 */
export function checkSkillPaths(skills: ReadonlyMap<string, ServedSkill>): void {
  const places = new SkillPaths();
  for (const skill of skills.values()) {
    const known = places.add(skill.path, true);
    if (known !== undefined) throw pathCollision(skill.path, known);
    for (const [folder] of foldersAbove(skill.path)) {
      const outer = skills.get(skillUri(folder, SKILL_FILE));
      if (outer !== undefined) checkNested(skill, outer);
    }
  }
}

/** The error for two skills with the same or a colliding path. */
export function pathCollision(path: string, known: string): McpError {
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
    // Generated content has no digest, so both skills must use the same function.
    if (one !== undefined && other !== undefined && one.digest === other.digest)
      if (one.digest !== undefined || one.content === other.content) continue;
    const which = `the skill "${inner.path}" is inside the skill "${outer.path}"`;
    throw new McpError("invalid_definition", `${which}, but ${uri} differs between them`, {
      fix: "Give both skills the same files there, or serve one of them below another folder.",
    });
  }
}
