import { McpError } from "../../protocol/error.js";
import { isLoggingLevel, LOG_LEVELS, type LoggingLevel } from "../../protocol/logging.js";
import type { CallExtras, Requester } from "../call/requester.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CallOptions } from "../contract/options.js";

/**
 * Requests log messages of this level and above: in the session if there is one, otherwise with each later request.
 */
export async function setLogLevel(
  connection: ClientConnection,
  requester: Requester,
  level: LoggingLevel,
  options?: CallOptions,
  extras?: CallExtras,
): Promise<void> {
  checkLogLevel(level);
  if (connection.last?.era.has("logging/setLevel"))
    await requester.call("logging/setLevel", { level }, options, extras);
  connection.logLevel = level;
}

/**
 * Throws for an unknown level. Checked here, because without a session every later request would carry the wrong level.
 */
export function checkLogLevel(level: LoggingLevel | undefined): void {
  if (level === undefined || isLoggingLevel(level)) return;
  const given: string = level;
  const meant = LOG_LEVELS.find((known) => given !== "" && known.startsWith(String(given).toLowerCase()));
  const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
  throw new McpError("misuse", `${JSON.stringify(given)} is not a log level${hint}`, {
    fix: `Pass one of ${LOG_LEVELS.join(", ")}.`,
  });
}

/**
 * Sends the requested level to a new session. If this fails, log messages may be missing, but the connection stays
 * open.
 */
export async function restoreLogLevel(
  connection: ClientConnection,
  requester: Requester,
  extras?: CallExtras,
): Promise<void> {
  const { logLevel } = connection;
  const { capabilities, era } = connection.established;
  if (logLevel === undefined || !era.has("logging/setLevel") || capabilities.logging === undefined) return;
  try {
    await setLogLevel(connection, requester, logLevel, undefined, extras);
  } catch (error) {
    requester.warn(`the server refused the log level "${logLevel}": ${error instanceof Error ? error.message : error}`);
  }
}
