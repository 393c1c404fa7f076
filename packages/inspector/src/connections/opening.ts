import type { Client } from "@parley/mcp";
import { McpError } from "@parley/mcp/protocol";
import type { HttpAccess } from "./http-access.js";

/** One attempt to connect, and the connection that it led to. */
export class Opening {
  /** How it reaches a URL. */
  readonly access: HttpAccess | undefined;
  /** Only where the user may have to log in; elsewhere the client counts the time. */
  readonly deadline: OpeningDeadline | undefined;
  readonly #ended = new AbortController();
  client: Client | undefined;
  /** Settles when the attempt is over. */
  done: Promise<unknown> = Promise.resolve();

  constructor(access: HttpAccess | undefined, connectMs: number) {
    this.access = access;
    this.deadline = access?.login === undefined ? undefined : new OpeningDeadline(connectMs);
  }

  /** Aborted when the attempt is given up or took too long. */
  get signal(): AbortSignal {
    const { deadline } = this;
    return deadline === undefined ? this.#ended.signal : AbortSignal.any([this.#ended.signal, deadline.signal]);
  }

  /** Gives up the attempt, or closes what it led to. Never rejects. */
  async leave(): Promise<void> {
    this.#ended.abort();
    this.deadline?.stop();
    this.access?.login?.progress.end();
    await Promise.allSettled([this.client?.close(), this.done]);
  }
}

/** Ends an attempt to connect that takes too long, the time in which the user logs in not counted. */
class OpeningDeadline {
  readonly #ms: number;
  readonly #aborted = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.go();
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  /** What ended the attempt, if the deadline did. */
  get error(): McpError | undefined {
    return this.signal.aborted ? McpError.from(this.signal.reason) : undefined;
  }

  /** The time begins anew. */
  go(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#aborted.abort(tooSlow(this.#ms)), this.#ms);
  }

  /** The time stands still: the user is waited for, or the attempt is over. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}

function tooSlow(ms: number): McpError {
  return new McpError("timeout", `the server did not answer the handshake within ${ms} ms`, {
    fix: "Check the address, and look at what the server does when it is asked; then open the connection again.",
    data: { deadline: "connect", ms },
  });
}
