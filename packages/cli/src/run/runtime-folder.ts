import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid } from "node:process";
import { McpError } from "@parley/mcp";
import type { Io } from "../terminal/io.js";

/** The folder of this user for sockets; it may not exist. */
export function runtimeFolder({ env }: Pick<Io, "env">): string {
  const given = env["XDG_RUNTIME_DIR"];
  if (given !== undefined && given !== "" && existsSync(given)) return join(given, "parley");
  return join(tmpdir(), `parley-${getuid?.() ?? 0}`);
}

/** Makes the folder if it is missing. Throws if others could use it: whoever is first in a common folder chooses the names there. */
export function privateFolder(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "EEXIST") throw reason;
  }
  checkPrivate(path);
  return path;
}

/** Throws if the folder is not the user's alone. */
export function checkPrivate(path: string): void {
  // Not what a link leads to: the link itself may be somebody else's.
  const stat = lstatSync(path);
  if (!stat.isDirectory()) throw unsafe(`${path} is no folder`, "Remove it.");
  if (stat.uid !== getuid?.()) throw unsafe(`${path} belongs to another user`, "Remove it, or set XDG_RUNTIME_DIR.");
  if ((stat.mode & 0o077) !== 0) throw unsafe(`others can use the folder ${path}`, `Run \`chmod 700 ${path}\`.`);
}

function unsafe(message: string, fix: string): McpError {
  return new McpError("connect_failed", message, { fix });
}
