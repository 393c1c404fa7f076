import { thrownMessage } from "../../encoding/thrown-message.js";
import { withDefaults } from "../../encoding/with-defaults.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkNumber } from "./check-number.js";
import type { RemoteConnection } from "./remote-connection.js";

/** How often a server is asked whether it lives, and when it counts as dead. */
export interface HealthOptions {
  /** The longest time without an answer before a ping is sent. Default 30,000. */
  intervalMs?: number | undefined;
  /** How long a ping may take. Default 10,000. */
  deadlineMs?: number | undefined;
  /** Pings without an answer, in a row, after which the server is unhealthy. Default 3. */
  failures?: number | undefined;
}

/** What a health check needs from its owner. */
export interface HealthParts {
  readonly platform: Pick<Platform, "monotonic" | "timer" | "warn">;
  /** The server's name, for errors. */
  readonly server: string;
  /** When the server answered a call last, on the monotonic clock. */
  readonly traffic: { readonly answeredAt: number };
  /** Asks the server for a sign of life. A rejection by an answer of the server is one too. */
  ping(signal: AbortSignal): Promise<unknown>;
  /** Called once after each `start`, when the server is found to be unhealthy; no ping follows. */
  unhealthy(reason: McpError): void;
}

const DEFAULTS = { intervalMs: 30_000, deadlineMs: 10_000, failures: 3 };

/** The options with their defaults. Throws `invalid_definition` for those that cannot be used. */
function checkedHealth(options?: HealthOptions): typeof DEFAULTS {
  checkOptions("the health check", options, "intervalMs deadlineMs failures");
  const limits = withDefaults(DEFAULTS, options);
  for (const name of ["intervalMs", "deadlineMs", "failures"] as const) checkNumber(name, limits[name], { least: 1 });
  return limits;
}

/**
 * Pings a server that has not answered anything for a while, and reports one that stays silent. Traffic makes pings
 * unnecessary. Nothing is left running after `stop`.
 */
export class HealthCheck {
  readonly #parts: HealthParts;
  readonly #limits: typeof DEFAULTS;
  #timer: Timer | undefined;
  #ping: AbortController | undefined;
  #answeredAt = 0;
  #failures = 0;
  /** The time between the last ping and its answer; undefined before the first. */
  latencyMs: number | undefined;

  constructor(parts: HealthParts, options?: HealthOptions) {
    this.#parts = parts;
    this.#limits = checkedHealth(options);
  }

  /** Starts, also once more, as if the server had just answered. */
  start(): void {
    this.stop();
    this.#alive();
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

  #alive(): void {
    this.#answeredAt = this.#parts.platform.monotonic();
    this.#failures = 0;
  }

  /** When the server answered last: a call, or a ping. */
  #lastAnswer(): number {
    const { answeredAt } = this.#parts.traffic;
    if (answeredAt > this.#answeredAt) {
      this.#answeredAt = answeredAt;
      this.#failures = 0;
    }
    return this.#answeredAt;
  }

  #wait(ms: number): void {
    this.#timer = this.#parts.platform.timer(ms, () => this.#look());
  }

  #look(): void {
    const left = this.#lastAnswer() + this.#limits.intervalMs - this.#parts.platform.monotonic();
    if (left > 0) this.#wait(left);
    else void this.#sendPing();
  }

  async #sendPing(): Promise<void> {
    const { platform } = this.#parts;
    const controller = new AbortController();
    this.#ping = controller;
    const begun = platform.monotonic();
    const failure = await this.#failureOf(controller.signal);
    // It was stopped or started again meanwhile.
    if (this.#ping !== controller) return;
    this.#stopTimer();
    this.#ping = undefined;
    // What is still under way is given up.
    controller.abort(failure?.error);
    // A call that was answered meanwhile proves more than a ping that was not.
    if (failure !== undefined && this.#lastAnswer() <= begun) return this.#failed(failure.error);
    if (failure === undefined) {
      this.#alive();
      this.latencyMs = platform.monotonic() - begun;
    }
    this.#wait(this.#limits.intervalMs);
  }

  /** Why a ping got no answer in time; undefined if it got one, or if nobody waits for it any more. */
  #failureOf(signal: AbortSignal): Promise<{ error: unknown } | undefined> {
    const { deadlineMs } = this.#limits;
    return new Promise((resolve) => {
      const late = () => resolve({ error: new McpError("timeout", `a ping got no answer within ${deadlineMs} ms`) });
      this.#timer = this.#parts.platform.timer(deadlineMs, late);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
      const rejected = (error: unknown) => resolve(McpError.is(error) && error.remote ? undefined : { error });
      // In a function of its own, since a program without types may throw in place of rejecting.
      void (async () => this.#parts.ping(signal))().then(() => resolve(undefined), rejected);
    });
  }

  /** Waits for the next ping, unless this failure is the last: an unhealthy server is left alone until `start`. */
  #failed(error: unknown): void {
    this.#failures++;
    const { failures, intervalMs } = this.#limits;
    if (this.#failures < failures) return this.#wait(intervalMs);
    const { server, platform } = this.#parts;
    const kind = McpError.is(error) ? error.kind : "transport_error";
    const message = `the server "${server}" did not answer ${failures} pings in a row: ${thrownMessage(error)}`;
    const reason = new McpError(kind, message, { cause: error, data: { server, failures } });
    callHook(platform, "unhealthy", () => this.#parts.unhealthy(reason));
  }
}

/** The health of each connection to one server: a silent one must not hide behind others that answer. */
export class ConnectionHealth {
  readonly #server: string;
  readonly #platform: Platform;
  readonly #options: HealthOptions | false;
  readonly #checks = new Map<RemoteConnection, HealthCheck>();
  #stopped = false;

  /** Throws `invalid_definition` for options that cannot be used. */
  constructor(server: string, platform: Platform, options: HealthOptions | false) {
    if (options !== false) checkedHealth(options);
    this.#server = server;
    this.#platform = platform;
    this.#options = options;
  }

  /** Checks a connection until it ends. One that stays silent is closed, after `unhealthy` was told why. */
  watch(connection: RemoteConnection, unhealthy: (reason: McpError) => void): void {
    if (this.#options === false || this.#stopped) return;
    const parts = {
      platform: this.#platform,
      server: this.#server,
      traffic: connection,
      ping: (signal: AbortSignal) => connection.client.ping({ signal }),
      unhealthy(reason: McpError) {
        unhealthy(reason);
        void connection.close();
      },
    };
    const check = new HealthCheck(parts, this.#options);
    this.#checks.set(connection, check);
    check.start();
    void connection.ended.then(() => {
      check.stop();
      this.#checks.delete(connection);
    });
  }

  /** The time that the last check of a connection took. */
  latencyMs(connection: RemoteConnection): number | undefined {
    return this.#checks.get(connection)?.latencyMs;
  }

  stop(): void {
    this.#stopped = true;
    for (const check of this.#checks.values()) check.stop();
  }
}
