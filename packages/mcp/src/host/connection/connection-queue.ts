import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { RemoteConnection } from "./remote-connection.js";

/** Maximum number of calls that wait for a connection to one server. Further calls are rejected. */
const MAX_WAITING = 10_000;

/** The calls to one server that wait until it has a connection. */
export class ConnectionQueue {
  readonly #server: { readonly name: string; readonly platform: Platform; readonly waitMs: number };
  readonly #waiting = new Set<(outcome: RemoteConnection | McpError) => void>();
  /** The error with which new calls are rejected immediately; undefined while calls may wait. */
  #refusedFor: McpError | undefined;

  constructor(server: { readonly name: string; readonly platform: Platform; readonly waitMs: number }) {
    this.#server = server;
  }

  /** Resolves with the next connection. Rejects after `waitMs`, or with the reason why no connection is coming. */
  wait(signal?: AbortSignal): Promise<RemoteConnection> {
    const { name, platform, waitMs } = this.#server;
    if (this.#refusedFor !== undefined) return Promise.reject(unavailable(name, this.#refusedFor));
    if (this.#waiting.size >= MAX_WAITING) return Promise.reject(tooManyWait(name));
    return new Promise((resolve, reject) => {
      let remove = () => {};
      const settle = (outcome: RemoteConnection | McpError) => {
        timer.cancel();
        remove();
        this.#waiting.delete(settle);
        if (McpError.is(outcome)) reject(outcome);
        else resolve(outcome);
      };
      const timer = platform.timer(waitMs, () => settle(notInTime(name, waitMs)), true);
      this.#waiting.add(settle);
      remove = onAbort(signal, () =>
        settle(new McpError("cancelled", "the call was cancelled", { cause: signal?.reason })),
      );
    });
  }

  /** Resolves all waiting calls with a connection. */
  opened(connection: RemoteConnection): void {
    this.#refusedFor = undefined;
    for (const settle of this.#waiting) settle(connection);
  }

  /** Rejects the waiting calls, and every new call until `opened` or `admit` is called. */
  refuse(cause: McpError): void {
    this.#refusedFor = cause;
    for (const settle of this.#waiting) settle(unavailable(this.#server.name, cause));
  }

  /** Lets calls wait again. */
  admit(): void {
    this.#refusedFor = undefined;
  }
}

function unavailable(name: string, cause: McpError): McpError {
  return new McpError("connection_closed", `the server "${name}" is not available: ${cause.message}`, {
    cause,
    fix: cause.fix,
  });
}

function tooManyWait(name: string): McpError {
  return new McpError("limit_exceeded", `${MAX_WAITING} calls already wait for the server "${name}" to be ready`, {
    data: { limit: "MAX_WAITING", server: name, value: MAX_WAITING },
    fix: "Call again when the server is ready, or limit its calls with `concurrency` and `queue`.",
  });
}

function notInTime(name: string, ms: number): McpError {
  return new McpError("timeout", `the server "${name}" was not ready within ${ms} ms`, {
    data: { limit: "waitMs", ms },
    fix: "Try again later, or check the status of the server. `startMs` limits the time for its start.",
  });
}
