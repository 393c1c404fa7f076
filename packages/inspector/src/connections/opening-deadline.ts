import { McpError } from "@parley/mcp/protocol";

/** Ends an attempt to connect that takes too long, the time in which the user logs in not counted. */
export class OpeningDeadline {
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
