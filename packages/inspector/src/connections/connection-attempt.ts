import type { Client } from "@parley/mcp";
import { McpError } from "@parley/mcp/protocol";
import type { HttpAccess } from "./http-access.js";

/** An attempt to connect, and the client that results from it. */
export class ConnectionAttempt {
  /** Present if the target is a URL. */
  readonly access: HttpAccess | undefined;
  /** Present if the user may have to log in. Otherwise the client enforces the timeout. */
  readonly deadline: ConnectDeadline | undefined;
  readonly #ended = new AbortController();
  client: Client | undefined;
  /** Settles when the attempt has ended. */
  done: Promise<unknown> = Promise.resolve();

  constructor(access: HttpAccess | undefined, connectMs: number) {
    this.access = access;
    this.deadline = access?.login === undefined ? undefined : new ConnectDeadline(connectMs);
  }

  /** Aborted when the attempt is closed or times out. */
  get signal(): AbortSignal {
    const { deadline } = this;
    return deadline === undefined ? this.#ended.signal : AbortSignal.any([this.#ended.signal, deadline.signal]);
  }

  /** Aborts the attempt, or closes its client. Never rejects. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.deadline?.stop();
    this.access?.login?.progress.abort();
    await Promise.allSettled([this.client?.close(), this.done]);
  }
}

/** The timeout of an attempt to connect. The time of a login does not count. */
class ConnectDeadline {
  readonly #ms: number;
  readonly #aborted = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.restart();
  }

  /** Aborted when the timeout has passed. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  /** The timeout error, if the deadline has passed. */
  get error(): McpError | undefined {
    return this.signal.aborted ? McpError.from(this.signal.reason) : undefined;
  }

  /** Starts the timeout from the beginning. */
  restart(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#aborted.abort(timeoutError(this.#ms)), this.#ms);
  }

  /** Stops the timeout, because the user has to log in or the attempt has ended. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}

function timeoutError(ms: number): McpError {
  return new McpError("timeout", `the server did not answer the handshake within ${ms} ms`, {
    fix: "Check the address and the server's log, then open the connection again.",
    data: { deadline: "connect", ms },
  });
}
