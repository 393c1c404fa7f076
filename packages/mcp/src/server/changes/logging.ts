import { notificationText } from "../../era/notification.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { isLoggingLevel, LOG_LEVELS, type LoggingLevel } from "../../protocol/features/logging.js";
import type { ServerCore } from "../call/core.js";
import type { Run } from "../call/server-call.js";
import type { Feature, MethodHandler } from "../lists/feature.js";
import type { PeerSubscribers } from "./peer-subscriber.js";

/** Log messages: how much a session wants to read, and what belongs to no call. */
export class Logging implements Feature {
  readonly #core: ServerCore;
  readonly #peers: PeerSubscribers;
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(core: ServerCore, peers: PeerSubscribers) {
    this.#core = core;
    this.#peers = peers;
    this.handlers = { "logging/setLevel": (run) => this.#setLevel(run) };
  }

  capabilities(): ServerCapabilities {
    return this.#core.logging ? { logging: {} } : {};
  }

  /** Sends a message to every peer that has a session and wants messages of this level. */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    if (!this.#core.logging) return;
    let text: string | undefined;
    for (const peer of this.#peers.all()) {
      text ??= notificationText("notifications/message", { level, ...(logger === undefined ? {} : { logger }), data });
      peer.log(level, text);
    }
  }

  #setLevel(run: Run): object {
    const { level } = run.call.params;
    if (!isLoggingLevel(level)) {
      throw new McpError("invalid_params", `${JSON.stringify(level) ?? "nothing"} is no log level`, {
        fix: `Use one of ${LOG_LEVELS.join(", ")}.`,
      });
    }
    const { peer } = run.exchange;
    if (peer?.session !== undefined) {
      peer.session.logLevel = level;
      peer.sessionChanged?.();
    }
    this.#core.options.onLogLevel?.(level, run.ctx);
    return {};
  }
}
