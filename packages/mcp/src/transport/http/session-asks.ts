import { RpcError } from "../../jsonrpc/error.js";
import type { ErrorMessage, Id, ResultMessage } from "../../jsonrpc/message.js";

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The requests that a server has sent to one client and that have no answer yet. */
export class SessionAsks {
  readonly #pending = new Map<Id, Pending>();

  /** Sends by `send` and waits. Settles once: with the result, the client's error, or the end of the session. */
  ask(id: Id, send: () => void): Promise<unknown> {
    if (this.#pending.has(id)) return Promise.reject(new TypeError(`request id ${JSON.stringify(id)} is in use`));
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      send();
    });
  }

  /** Takes an answer; false when nothing here waits for it. */
  answered(message: ResultMessage | ErrorMessage): boolean {
    const { id } = message;
    const pending = id === undefined || id === null ? undefined : this.#pending.get(id);
    if (pending === undefined || id === undefined || id === null) return false;
    this.#pending.delete(id);
    if ("error" in message) {
      const { code, message: text, data } = message.error;
      pending.reject(new RpcError(code, text, data));
    } else {
      pending.resolve(message.result);
    }
    return true;
  }

  close(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
