import { join } from "node:path";
import type { Io } from "../terminal/io.js";

/** The folder for files of the user: tokens, and backups of files in projects. */
export function settingsFolder({ env, home, platform }: Pick<Io, "env" | "home" | "platform">): string {
  const named = env["PARLEY_HOME"];
  if (named !== undefined && named !== "") return named;
  if (platform === "win32") return join(env["APPDATA"] ?? join(home, "AppData", "Roaming"), "parley");
  return join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "parley");
}

/** The file with the tokens of `parley login`. */
export function tokenFile(io: Pick<Io, "env" | "home" | "platform">): string {
  return join(settingsFolder(io), "tokens.json");
}
