import { thrownMessage } from "../../encoding/thrown-message.js";
import { withDefaults } from "../../encoding/with-defaults.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkNumber } from "./check-number.js";
import type { RemoteConnection } from "./remote-connection.js";

/** Timing of health checks. */
export interface HealthOptions {
  /** Milliseconds without any answer from the server after which a ping is sent. Default: 30,000. */
  intervalMs?: number | undefined;
  /** Milliseconds that a ping may take. Default: 10,000. */
  deadlineMs?: number | undefined;
  /** Number of unanswered pings in a row after which the server is unhealthy. Default: 3. */
  failures?: number | undefined;
}

/** Runtime, target and callbacks of a health check. */
export interface HealthCheckConfig {
  readonly platform: Pick<Platform, "monotonic" | "timer" | "warn">;
  /** The server's name, for errors. */
  readonly server: string;
  /** The time of the server's last answer to a call, on the monotonic clock. */
  readonly traffic: { readonly answeredAt: number };
  /** Sends a ping. An error response also proves that the server is alive. */
  ping(signal: AbortSignal): Promise<unknown>;
  /** Called at most once after each `start`, when the server is unhealthy. No further ping follows. */
  unhealthy(reason: McpError): void;
}

const DEFAULTS = { intervalMs: 30_000, deadlineMs: 10_000, failures: 3 };

/** Merges the options with their defaults. Throws `invalid_definition` for invalid values. */
function checkedHealth(options?: HealthOptions): typeof DEFAULTS {
  checkOptions("the health check", options, "intervalMs deadlineMs failures");
  const limits = withDefaults(DEFAULTS, options);
  for (const name of ["intervalMs", "deadlineMs", "failures"] as const) checkNumber(name, limits[name], { min: 1 });
  return limits;
}

/**
 * Pings a server that has not answered anything for a while, and reports a server that stays silent. An answered call
 * makes a ping unnecessary. Nothing is left running after `stop`.
 */
export class HealthCheck {
  readonly #config: HealthCheckConfig;
  readonly #limits: typeof DEFAULTS;
  #timer: Timer | undefined;
  #ping: AbortController | undefined;
  #answeredAt = 0;
  #failures = 0;
  /** The round trip of the last answered ping; undefined before the first. */
  latencyMs: number | undefined;

  constructor(config: HealthCheckConfig, options?: HealthOptions) {
    this.#config = config;
    this.#limits = checkedHealth(options);
  }

  /** Starts or restarts the check, as if the server had just answered. */
  start(): void {
    this.stop();
    this.#markAlive();
    this.#wait(this.#limits.intervalMs);
  }

  stop(): void {
    this.#stopTimer();
    this.#ping?.abort(new McpError("cancelled", "the health check was stopped"));
    this.#ping = undefined;
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #markAlive(): void {
    this.#answeredAt = this.#config.platform.monotonic();
    this.#failures = 0;
  }

  /** The time of the server's last answer to a call or a ping. */
  #lastAnswer(): number {
    const { answeredAt } = this.#config.traffic;
    if (answeredAt > this.#answeredAt) {
      this.#answeredAt = answeredAt;
      this.#failures = 0;
    }
    return this.#answeredAt;
  }

  #wait(ms: number): void {
    this.#timer = this.#config.platform.timer(ms, () => this.#check());
  }

  #check(): void {
    const left = this.#lastAnswer() + this.#limits.intervalMs - this.#config.platform.monotonic();
    if (left > 0) this.#wait(left);
    else void this.#sendPing();
  }

  async #sendPing(): Promise<void> {
    const { platform } = this.#config;
    const controller = new AbortController();
    this.#ping = controller;
    const begun = platform.monotonic();
    const failure = await this.#failureOf(controller.signal);
    // The check was stopped or restarted meanwhile.
    if (this.#ping !== controller) return;
    this.#stopTimer();
    this.#ping = undefined;
    // Cancels the ping if it is still running.
    controller.abort(failure?.error);
    // A call that was answered meanwhile proves that the server is alive, although the ping failed.
    if (failure !== undefined && this.#lastAnswer() <= begun) return this.#failed(failure.error);
    if (failure === undefined) {
      this.#markAlive();
      this.latencyMs = platform.monotonic() - begun;
    }
    this.#wait(this.#limits.intervalMs);
  }

  /**
   * Resolves with the reason why a ping got no answer in time. Resolves with undefined if the ping was answered or
   * cancelled.
   */
  #failureOf(signal: AbortSignal): Promise<{ error: unknown } | undefined> {
    const { deadlineMs } = this.#limits;
    return new Promise((resolve) => {
      const late = () => resolve({ error: new McpError("timeout", `a ping got no answer within ${deadlineMs} ms`) });
      this.#timer = this.#config.platform.timer(deadlineMs, late);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
      const rejected = (error: unknown) => resolve(McpError.is(error) && error.remote ? undefined : { error });
      // Wrapped in an async function, because untyped code may throw instead of rejecting.
      void (async () => this.#config.ping(signal))().then(() => resolve(undefined), rejected);
    });
  }

  /**
   * Schedules the next ping. After the last tolerated failure, reports the server as unhealthy instead, and sends no
   * ping until `start` is called.
   */
  #failed(error: unknown): void {
    this.#failures++;
    const { failures, intervalMs } = this.#limits;
    if (this.#failures < failures) return this.#wait(intervalMs);
    const { server, platform } = this.#config;
    const kind = McpError.is(error) ? error.kind : "transport_error";
    const message = `the server "${server}" did not answer ${failures} pings in a row: ${thrownMessage(error)}`;
    const reason = new McpError(kind, message, { cause: error, data: { server, failures } });
    callHook(platform, "unhealthy", () => this.#config.unhealthy(reason));
  }
}

/**
 * Health checks for each connection of one server, so that a silent connection is noticed even if other connections
 * answer.
 */
export class ConnectionHealth {
  readonly #server: string;
  readonly #platform: Platform;
  readonly #options: HealthOptions | false;
  readonly #checks = new Map<RemoteConnection, HealthCheck>();
  #stopped = false;

  /** Throws `invalid_definition` for invalid options. */
  constructor(server: string, platform: Platform, options: HealthOptions | false) {
    if (options !== false) checkedHealth(options);
    this.#server = server;
    this.#platform = platform;
    this.#options = options;
  }

  /**
   * Checks a connection until it ends. Calls `unhealthy` with the reason and closes the connection if it stays silent.
   */
  watch(connection: RemoteConnection, unhealthy: (reason: McpError) => void): void {
    if (this.#options === false || this.#stopped) return;
    const config = {
      platform: this.#platform,
      server: this.#server,
      traffic: connection,
      ping: (signal: AbortSignal) => connection.client.ping({ signal }),
      unhealthy(reason: McpError) {
        unhealthy(reason);
        void connection.close();
      },
    };
    const check = new HealthCheck(config, this.#options);
    this.#checks.set(connection, check);
    check.start();
    void connection.ended.then(() => {
      check.stop();
      this.#checks.delete(connection);
    });
  }

  /** The round trip of a connection's last ping. */
  latencyMs(connection: RemoteConnection): number | undefined {
    return this.#checks.get(connection)?.latencyMs;
  }

  stop(): void {
    this.#stopped = true;
    for (const check of this.#checks.values()) check.stop();
  }
}
