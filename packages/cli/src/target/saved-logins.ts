import { existsSync } from "node:fs";
import { join } from "node:path";
import { oauth, type RequestAuthorization } from "@parley/mcp/auth";
import { fileTokenStore } from "@parley/mcp/login";
import type { Io } from "../terminal/io.js";

/** Where this program keeps what belongs to the user: tokens. */
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

/**
 * The credentials that `parley login` has kept, undefined if there are none, or if the command line brings its own. A login is never begun here: a command that needs one fails, and says how to log in.
 */
export function savedLogins(headers: Readonly<Record<string, string>>, io: Io): RequestAuthorization | undefined {
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  const file = tokenFile(io);
  return existsSync(file) ? oauth({ store: fileTokenStore(file), registration: false }) : undefined;
}
