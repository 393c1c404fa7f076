import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * The file in the folder of a saved skill that records the skill's origin. Servers ignore files that begin with a dot.
 */
export const SAVED_FILE = ".parley-skill.json";

/** The origin of a saved skill, and the digests of its files. */
export interface SavedSkill {
  readonly version: 1;
  /** The name and version that the server declared. Unverified. */
  readonly server: { readonly name: string; readonly version: string };
  readonly uri: string;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

/**
 * Reads the record of a saved skill. Undefined for a skill without a valid record, such as one that the user wrote.
 */
export function savedFrom(folder: string): SavedSkill | undefined {
  const path = join(folder, SAVED_FILE);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.size > MAX_BYTES) return undefined;
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<SavedSkill>;
    // The file may be forged. That is acceptable, because its content is only shown to the user.
    const { version, server, uri, resources } = value;
    const isWhole = version === 1 && typeof uri === "string" && typeof server?.name === "string";
    return isWhole && Array.isArray(resources) && resources.every(isResource) ? (value as SavedSkill) : undefined;
  } catch {
    return undefined;
  }
}

function isResource(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("uri" in value) || !("digest" in value)) return false;
  return typeof value.uri === "string" && typeof value.digest === "string" && isDecodable(value.uri);
}

function isDecodable(uri: string): boolean {
  try {
    return decodeURIComponent(uri) !== "";
  } catch {
    return false;
  }
}

const MAX_BYTES = 1024 * 1024;
/**
 * Maximum number of files in the folder that are compared. Further files are ignored. A skill from a server has at most
 * 512 files, so the limit is reached only if many files were added.
 */
const MAX_FILES = 2_000;

/** Lists the files that differ from the server's files: changed, added or missing. */
export function changedFiles(folder: string, { uri, resources }: SavedSkill): string[] {
  const base = uri.slice(0, uri.lastIndexOf("/") + 1);
  const wanted = new Map(resources.map((file) => [decodeURIComponent(file.uri.slice(base.length)), file.digest]));
  const changed: string[] = [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => !file.isDirectory());
  for (const file of files.slice(0, MAX_FILES)) {
    const full = join(file.parentPath, file.name);
    const path = full
      .slice(folder.length + 1)
      .split(sep)
      .join("/");
    if (path === SAVED_FILE) continue;
    const digest = file.isFile() ? `sha256:${createHash("sha256").update(readFileSync(full)).digest("hex")}` : "";
    if (wanted.get(path) !== digest) changed.push(path);
    wanted.delete(path);
  }
  return [...changed, ...wanted.keys()].sort();
}
