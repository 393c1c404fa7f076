import { notificationText } from "../../era/notification.js";
import { callHook } from "../../platform/call-hook.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { isLoggingLevel, LOG_LEVELS, type LoggingLevel } from "../../protocol/logging.js";
import type { Layer } from "../call/layers.js";
import type { MethodHandler, ServerCall } from "../call/server-call.js";
import type { ServerConfig } from "../call/server-config.js";
import type { PeerSubscribers } from "./peer-subscriber.js";

/** Serves `logging/setLevel`, and sends log messages that do not belong to a call. */
export class Logging implements Layer {
  readonly name = "logging";
  readonly stage = "served";
  readonly #config: ServerConfig;
  readonly #peers: PeerSubscribers;
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(config: ServerConfig, peers: PeerSubscribers) {
    this.#config = config;
    this.#peers = peers;
    this.handlers = { "logging/setLevel": (call) => this.#setLevel(call) };
  }

  capabilities(): ServerCapabilities {
    return this.#config.logging ? { logging: {} } : {};
  }

  /** Sends a message to every peer whose session accepts messages of this level. */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    if (!this.#config.logging) return;
    let text: string | undefined;
    for (const peer of this.#peers.all()) {
      text ??= notificationText("notifications/message", { level, logger, data });
      peer.log(level, text);
    }
  }

  #setLevel(call: ServerCall): object {
    const { level } = call.request.params;
    // Spec: Logging, "Error Handling",
    // https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#error-handling
    if (!isLoggingLevel(level)) {
      throw new McpError("invalid_params", `${JSON.stringify(level) ?? "nothing"} is not a log level`, {
        fix: `Use one of ${LOG_LEVELS.join(", ")}.`,
      });
    }
    const { peer } = call.exchange;
    if (peer?.session !== undefined) {
      peer.session.logLevel = level;
      peer.sessionChanged?.();
    }
    const { options, platform } = this.#config;
    callHook(platform, "onLogLevel", () => options.onLogLevel?.(level, call.ctx));
    return {};
  }
}
