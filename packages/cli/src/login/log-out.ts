import { rmSync } from "node:fs";
import { connect } from "@parley/mcp";
import { oauth } from "@parley/mcp/auth";
import { fileTokenStore } from "@parley/mcp/login";
import type { CommandRun } from "../commands/command.js";
import { tokenFile } from "../target/saved-logins.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/terminal-text.js";
import { countingStore, loginAddress } from "./log-in.js";

/** Time limit for connecting to the server. Without a connection, the tokens are deleted but not revoked. */
const REVOKE_MS = 10_000;

/**
 * `parley logout`: revokes and deletes the tokens for one server. With `--all`, deletes all tokens without revoking
 * them.
 */
export const logOut: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const file = tokenFile(terminal.io);
  if (options.flag("all")) {
    rmSync(file, { force: true });
    if (terminal.json) terminal.printJson({ forgotten: "all" });
    else terminal.print("Logged out of all servers.");
    return EXIT.ok;
  }
  const url = await loginAddress(invocation);
  const store = countingStore(fileTokenStore(file));
  const auth = oauth({ store, registration: false });
  // Connects first, because `logout` revokes tokens only for an address to which `auth` has connected. If the server is
  // unreachable, the tokens are only deleted.
  const client = await connect(url, { auth, timeouts: { connectMs: REVOKE_MS }, onWarning: () => {} }).catch(() => {});
  await client?.close();
  await auth.logout(url);
  const wasLoggedIn = store.forgotten > 0;
  if (terminal.json) terminal.printJson({ forgotten: wasLoggedIn ? url : null });
  else if (wasLoggedIn) terminal.print(show`Logged out of ${url}.`);
  else terminal.print(show`You were not logged in to ${url}.`);
  return EXIT.ok;
};
