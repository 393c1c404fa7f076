import type { Platform } from "../../platform/platform.js";
import type { McpError } from "../../protocol/error.js";
import { checkedHealth, HealthCheck, type HealthOptions } from "./health-check.js";
import type { RemoteConnection } from "./remote-connection.js";

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
      ping: (signal: AbortSignal) => connection.client.ping({ signal }),
      unhealthy(reason: McpError) {
        unhealthy(reason);
        void connection.close();
      },
    };
    const check = new HealthCheck(parts, this.#options);
    this.#checks.set(connection, check);
    check.start();
    void connection.ended().then(() => {
      check.stop();
      this.#checks.delete(connection);
    });
  }

  answered(connection: RemoteConnection): void {
    this.#checks.get(connection)?.answered();
  }

  /** The time that the last check of a connection took. */
  latencyMs(connection: RemoteConnection): number | undefined {
    return this.#checks.get(connection)?.status.latencyMs;
  }

  stop(): void {
    this.#stopped = true;
    for (const check of this.#checks.values()) check.stop();
  }
}
