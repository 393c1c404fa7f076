import type { Root } from "../../protocol/features/roots.js";
import type { Answerer } from "../answers/answerer.js";
import type { Caller } from "../call/caller.js";
import type { ClientConnection } from "../connection/connection.js";

/** The folders that the server may work in, as this client names them. `connect` must have been given `roots`. */
export class ClientRoots {
  readonly #answerer: Answerer;
  readonly #connection: ClientConnection;
  readonly #caller: Caller;
  /** Changes happen one after the other, so that none undoes another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(answerer: Answerer, connection: ClientConnection, caller: Caller) {
    this.#answerer = answerer;
    this.#connection = connection;
    this.#caller = caller;
  }

  /** The roots as the server gets them when it asks now; nothing is sent. */
  list(): Promise<readonly Root[]> {
    return this.#answerer.roots();
  }

  /** Replaces all roots, and notifies the server where its revision can be notified. */
  set(roots: readonly Root[]): Promise<void> {
    return this.#change(() => roots);
  }

  /** Adds a root, or replaces the one with the same URI. */
  add(root: Root): Promise<void> {
    return this.#change(async () => [...(await this.#others(root.uri)), root]);
  }

  /** Removes the root with this URI. Does nothing if there is none. */
  remove(uri: string): Promise<void> {
    return this.#change(() => this.#others(uri));
  }

  async #others(uri: string): Promise<Root[]> {
    return (await this.list()).filter((root) => root.uri !== uri);
  }

  #change(next: () => readonly Root[] | Promise<readonly Root[]>): Promise<void> {
    const done = this.#turn.then(async () => {
      this.#answerer.setRoots(await next());
      const method = "notifications/roots/list_changed";
      if (this.#connection.last?.era.has(method) === true) await this.#caller.notify(method);
    });
    this.#turn = done.catch(() => {});
    return done;
  }
}
