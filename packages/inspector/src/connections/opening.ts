import type { Client } from "@parley/mcp";
import type { HttpAccess } from "./http-access.js";
import { OpeningDeadline } from "./opening-deadline.js";

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
