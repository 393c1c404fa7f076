import { existsSync } from "node:fs";
import { oauth, type RequestAuthorization } from "@parley/mcp/auth";
import { fileTokenStore } from "@parley/mcp/login";
import type { Io } from "../terminal/io.js";
import { tokenFile } from "./token-file.js";

/**
 * The credentials that `parley login` has kept, undefined if there are none, or if the command line brings its own. A login is
 * never begun here: a command that needs one fails, and says how to log in.
 */
export function savedLogins(headers: Readonly<Record<string, string>>, io: Io): RequestAuthorization | undefined {
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  const file = tokenFile(io);
  return existsSync(file) ? oauth({ store: fileTokenStore(file), registration: false }) : undefined;
}
