import { RpcError } from "../../../jsonrpc/error.js";
import type { ErrorMessage, Id, ResultMessage } from "../../../jsonrpc/message.js";
import { PendingAsks } from "../../../jsonrpc/pending-asks.js";

/** The requests that a server has sent to one client and that have no answer yet. */
export class SessionAsks {
  readonly #pending = new PendingAsks();

  /** Sends by `send` and waits. Settles once: with the result, the client's error, the signal, or the end of the session. */
  ask(id: Id, send: () => void, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#pending.ask(id, send, signal);
  }

  /** Takes an answer; false when nothing here waits for it. */
  answered(message: ResultMessage | ErrorMessage): boolean {
    const { id } = message;
    const pending = id === undefined || id === null ? undefined : this.#pending.take(id);
    if (pending === undefined) return false;
    if ("error" in message) {
      const { code, message: text, data } = message.error;
      pending.reject(new RpcError(code, text, data));
    } else {
      pending.resolve(message.result);
    }
    return true;
  }

  close(error: Error): void {
    this.#pending.rejectAll(error);
  }
}
