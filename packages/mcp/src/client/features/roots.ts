import type { Root } from "../../protocol/features/roots.js";
import type { Answerer } from "../answers/answerer.js";
import type { Caller } from "../call/caller.js";
import type { ClientConnection } from "../connection/connection.js";

/** The folders that the server may work in. Usable only if `connect` got `roots`. */
export class ClientRoots {
  readonly #answerer: Answerer;
  readonly #connection: ClientConnection;
  readonly #caller: Caller;
  /** Settles after the last change. Changes run one after the other, so that none overwrites another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(answerer: Answerer, connection: ClientConnection, caller: Caller) {
    this.#answerer = answerer;
    this.#connection = connection;
    this.#caller = caller;
  }

  /** Returns the current roots, as the server would get them. Sends nothing. */
  list(): Promise<readonly Root[]> {
    return this.#answerer.roots();
  }

  /** Replaces all roots. Notifies the server if the revision has that notification. */
  set(roots: readonly Root[]): Promise<void> {
    return this.#change(() => roots);
  }

  /** Adds a root, or replaces the one with the same URI. Notifies the server like `set`. */
  add(root: Root): Promise<void> {
    return this.#change(async () => [...(await this.#others(root.uri)), root]);
  }

  /** Removes the root with this URI, if there is one. Notifies the server like `set`. */
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
