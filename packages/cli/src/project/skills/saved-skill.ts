import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";

/** Beside the files of a saved skill: where it comes from. Servers leave out files that begin with a dot. */
export const SAVED_FILE = ".parley-skill.json";

/** Where a skill was saved from, and what its files were. */
export interface SavedSkill {
  readonly version: 1;
  /** What the server called itself; unverified. */
  readonly server: { readonly name: string; readonly version: string };
  readonly uri: string;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

/** What was noted when a skill was saved; undefined for one that the user wrote. */
export function savedFrom(folder: string): SavedSkill | undefined {
  const path = join(folder, SAVED_FILE);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.size > MAX_BYTES) return undefined;
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<SavedSkill>;
    // A file that somebody else wrote only says where a skill comes from; nothing is decided by it.
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
/** Files of a skill; the library admits 512. */
const MOST_FILES = 2_000;

/** Files of a saved skill that are not what the server gave: changed, added or gone. */
export function changedFiles(folder: string, { uri, resources }: SavedSkill): string[] {
  const base = uri.slice(0, uri.lastIndexOf("/") + 1);
  const wanted = new Map(resources.map((file) => [decodeURIComponent(file.uri.slice(base.length)), file.digest]));
  const changed: string[] = [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => !file.isDirectory());
  for (const file of files.slice(0, MOST_FILES)) {
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
