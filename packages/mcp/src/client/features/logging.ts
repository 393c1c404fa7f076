import type { LoggingLevel } from "../../protocol/features/logging.js";
import type { CallExtras, Requester } from "../call/caller.js";
import { hasMethod } from "../call/has-method.js";
import type { Link } from "../connection/connection.js";
import type { CallOptions } from "../options.js";

/**
 * Asks for log messages of this level and above: in the session where there is one, with each later request where there is
 * none.
 */
export async function setLogLevel(
  link: Link,
  requester: Requester,
  level: LoggingLevel,
  options?: CallOptions,
  extras?: CallExtras,
): Promise<void> {
  if (hasMethod(link, "logging/setLevel")) await requester.call("logging/setLevel", { level }, options, extras);
  link.logLevel = level;
}

/** Tells a new session the level that was asked for before. Failure costs log messages, never the connection. */
export async function restoreLogLevel(link: Link, requester: Requester, extras?: CallExtras): Promise<void> {
  const { logLevel } = link;
  const { capabilities } = link.established;
  if (logLevel === undefined || !hasMethod(link, "logging/setLevel") || capabilities.logging === undefined) return;
  try {
    await setLogLevel(link, requester, logLevel, undefined, extras);
  } catch (error) {
    requester.warn(`the server refused the log level "${logLevel}": ${error instanceof Error ? error.message : error}`);
  }
}
