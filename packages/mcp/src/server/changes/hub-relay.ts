import { isObject } from "../../jsonrpc/message.js";
import type { Storage, Unsubscribe } from "../../storage/storage.js";
import type { ServerCore } from "../call/core.js";
import type { Change } from "./hub.js";

/** Carries changes between the nodes that share a storage. */
export class HubRelay {
  readonly #core: ServerCore;
  readonly #storage: Storage;
  readonly #deliver: (change: Change) => void;
  /** Nodes hear themselves too; this tells their own messages. */
  #node: string | undefined;
  #attaching: Promise<void> | undefined;
  #unsubscribe: Unsubscribe | undefined;

  constructor(core: ServerCore, storage: Storage, deliver: (change: Change) => void) {
    this.#core = core;
    this.#storage = storage;
    this.#deliver = deliver;
  }

  get attached(): boolean {
    return this.#unsubscribe !== undefined;
  }

  /** Begins to hear other nodes; once, however often it is called. A failure is thrown, and the next call tries again. */
  attach(): void | Promise<void> {
    if (this.#unsubscribe !== undefined) return undefined;
    if (this.#attaching !== undefined) return this.#attaching;
    const made = this.#storage.pubsub.subscribe(this.#topic(), (message) => this.#heard(message));
    if (!(made instanceof Promise)) {
      this.#unsubscribe = made;
      return undefined;
    }
    this.#attaching = made
      .then((unsubscribe) => {
        this.#unsubscribe = unsubscribe;
      })
      .finally(() => {
        this.#attaching = undefined;
      });
    return this.#attaching;
  }

  publish(change: Change): void {
    try {
      const published = this.#storage.pubsub.publish(this.#topic(), JSON.stringify({ from: this.#self(), change }));
      if (published instanceof Promise) published.catch((error) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  async detach(): Promise<void> {
    await this.#attaching?.catch(() => undefined);
    const unsubscribe = this.#unsubscribe;
    this.#unsubscribe = undefined;
    await unsubscribe?.();
  }

  #topic(): string {
    return `server/${this.#core.self.info.name}/changes`;
  }

  #self(): string {
    this.#node ??= this.#core.randomId();
    return this.#node;
  }

  #heard(message: string): void {
    const change = readChange(message, this.#self());
    if (change !== undefined) this.#deliver(change);
  }

  #failed(error: unknown): void {
    this.#core.platform.warn(`other nodes were not told of a change: ${String(error)}`);
  }
}

/** The change that another node tells; undefined for one's own messages and for what is none. */
function readChange(message: string, self: string): Change | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["from"] === self) return undefined;
  const change = value["change"];
  if (!isObject(change) || typeof change["filter"] !== "string" || typeof change["method"] !== "string") {
    return undefined;
  }
  // The two members that delivery depends on were checked; nodes of one server write the rest alike.
  return change as unknown as Change;
}
