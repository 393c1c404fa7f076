import { dirname, relative } from "node:path";

/**
 * The path as a message shows it: relative to the current folder if that is shorter. Below the root of the file system
 * the path stays absolute, because without its slash it would look like a path of another folder.
 */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === "" || near.length >= path.length || dirname(cwd) === cwd ? path : near;
}
