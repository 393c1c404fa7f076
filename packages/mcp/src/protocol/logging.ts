import type { MetaObject } from "./json.js";

/** The severities of RFC 5424, section 6.2.1, from the least to the most severe. */
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** A severity of RFC 5424. */
export type LoggingLevel = (typeof LOG_LEVELS)[number];

/**
 * True for one of the eight severities.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  const levels: readonly unknown[] = LOG_LEVELS;
  return levels.includes(value);
}

/**
 * True if a message of severity `level` is at least as severe as the threshold.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function passesLevel(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
}

/** Parameters of `logging/setLevel`. 2024-11-05 to 2025-11-25; later a request names its level in `_meta`. */
export interface SetLevelRequestParams {
  /** Metadata of the request. */
  _meta?: MetaObject;
  /** The minimum severity of the messages that the client wants. */
  level: LoggingLevel;
}

/** Parameters of `notifications/message`, a log message for the client. Deprecated in 2026-07-28. */
export interface LoggingMessageNotificationParams {
  /** Metadata of the notification. */
  _meta?: MetaObject;
  /** The severity of the message. */
  level: LoggingLevel;
  /** The name of the logger. */
  logger?: string;
  /** Any JSON value, usually a string or an object. */
  data: unknown;
}
