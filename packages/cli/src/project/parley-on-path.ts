import { statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Io } from "../terminal/io.js";

/** The files named `parley` in the folders of PATH, in the order of PATH. */
export function parleysOnPath({ env, platform }: Io): string[] {
  const file = platform === "win32" ? "parley.cmd" : "parley";
  const paths = (env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, file));
  return paths.filter((path) => isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
