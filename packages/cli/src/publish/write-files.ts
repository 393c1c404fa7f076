import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../terminal/usage-error.js";
import { messageOf } from "./publish-project.js";

/** A file to write. */
export interface OutputFile {
  /** The absolute path. */
  readonly path: string;
  readonly content: string | Uint8Array;
}

/**
 * Writes all files or none. Every file is written beside its place first, and then moved there. If a step fails, the
 * previous files are put back, and a `UsageError` names the file.
 */
export function writeFiles(files: readonly OutputFile[]): void {
  const id = randomUUID();
  const draft = (path: string) => `${path}.${id}.new`;
  const backup = (path: string) => `${path}.${id}.old`;
  const moved: string[] = [];
  const madeFolders: string[] = [];
  let current = "";
  try {
    for (const { path, content } of files) {
      current = path;
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error("it is not a file");
      madeFolders.push(...[mkdirSync(dirname(path), { recursive: true }) ?? []].flat());
      writeFileSync(draft(path), content, { flag: "wx" });
    }
    for (const { path } of files) {
      current = path;
      moved.push(path);
      if (existsSync(path)) renameSync(path, backup(path));
      renameSync(draft(path), path);
    }
  } catch (reason) {
    for (const path of moved) {
      const isPlaced = !existsSync(draft(path));
      if (existsSync(backup(path))) renameSync(backup(path), path);
      else if (isPlaced) rmSync(path, { force: true });
    }
    for (const { path } of files) if (existsSync(draft(path))) rmSync(draft(path));
    for (const folder of madeFolders) rmSync(folder, { recursive: true, force: true });
    throw new UsageError(`${current} cannot be written: ${messageOf(reason)}`, "Name a writable folder with --output.");
  }
  for (const { path } of files) rmSync(backup(path), { force: true });
}
