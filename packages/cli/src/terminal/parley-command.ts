import { statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Io } from "./io.js";

/** The files named `parley` in the folders of PATH, in the order of PATH. */
export function parleysOnPath({ env, platform }: Io): string[] {
  const file = platform === "win32" ? "parley.cmd" : "parley";
  const paths = (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, file));
  return paths.filter((path) => isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/**
 * Returns the words by which the user starts this program in a shell. The folders that npm adds to PATH for its scripts
 * do not count, because the user's shell does not have them.
 */
export function parleyCommand(io: Io): string {
  const isInstalled = parleysOnPath(io).some((path) => !/[\\/]node_modules[\\/]\.bin[\\/]/.test(path));
  return isInstalled ? "parley" : "npx @parley/cli";
}
