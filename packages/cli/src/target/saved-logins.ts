import { existsSync } from "node:fs";
import { join } from "node:path";
import { McpError } from "@parley/mcp";
import { clientCredentials, type OAuthClient, oauth, type RequestAuthorization } from "@parley/mcp/auth";
import { fileTokenStore } from "@parley/mcp/login";
import type { Invocation } from "../commands/command.js";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/**
 * The credentials stored by `parley login`. Undefined if there are none, or if `headers` has an `Authorization` header.
 * Never starts a login: a command that needs a login fails with the advice to log in.
 */
export function savedLogins(headers: Readonly<Record<string, string>>, io: Io): RequestAuthorization | undefined {
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  const file = tokenFile(io);
  return existsSync(file) ? oauth({ store: fileTokenStore(file), registration: false }) : undefined;
}

/** Credentials for `--grant`, which are not stored. Throws a `UsageError` if the client id or secret is missing. */
export function grantCredentials({
  options,
  terminal,
}: Pick<Invocation, "options" | "terminal">): RequestAuthorization {
  const client = clientFromOptions({ options, terminal });
  if (client?.clientSecret === undefined) {
    throw new UsageError(
      "--grant client-credentials needs a client and its secret",
      "Add --client-id, and --client-secret-env with the environment variable that has the secret.",
    );
  }
  const scopes = options.many("scope");
  return oauth({
    grant: clientCredentials(client),
    ...(scopes.length === 0 ? {} : { scopes, requiredScopes: scopes }),
  });
}

/** The OAuth client of `--client-id` and `--client-secret-env`. Undefined if neither is given. */
export function clientFromOptions({
  options,
  terminal,
}: Pick<Invocation, "options" | "terminal">): OAuthClient | undefined {
  const clientId = options.text("clientId");
  const variable = options.text("clientSecretEnv");
  if (clientId === undefined) {
    if (variable === undefined) return undefined;
    throw new UsageError("--client-secret-env needs --client-id", "Add the id of the client: --client-id.");
  }
  if (variable === undefined) return { clientId };
  const clientSecret = terminal.io.env[variable];
  if (clientSecret !== undefined && clientSecret !== "") return { clientId, clientSecret };
  throw new McpError("authorization_failed", `the environment variable ${variable} is not set`, {
    fix: `Set ${variable} to the client's secret.`,
  });
}

/** The folder for the user's tokens and for backups of project files. */
export function settingsFolder({ env, home, platform }: Pick<Io, "env" | "home" | "platform">): string {
  const named = env["PARLEY_HOME"];
  if (named !== undefined && named !== "") return named;
  if (platform === "win32") return join(env["APPDATA"] ?? join(home, "AppData", "Roaming"), "parley");
  return join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "parley");
}

/** The file that stores the tokens of `parley login`. */
export function tokenFile(io: Pick<Io, "env" | "home" | "platform">): string {
  return join(settingsFolder(io), "tokens.json");
}
