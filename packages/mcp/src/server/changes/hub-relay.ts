import { guarded, isThenable } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import type { Timer } from "../../platform/platform.js";
import type { Storage, Unsubscribe } from "../../storage/storage.js";
import type { ServerConfig } from "../call/server-config.js";
import type { PublishedChange } from "./change.js";

/** What a relay tells its node. */
interface RelayReceiver {
  deliver(change: PublishedChange): void;
  /** Changes of other nodes may have been lost. */
  onGap(): void;
}

/** How long to wait before the storage is tried again. */
const RETRY_MS = 1000;
/** Changes that wait for a storage that is out of order; beyond it, other nodes are told that they missed some. */
const MAX_UNSENT = 1000;
const MISSED = "missed";
const SECRET = "secret";

/**
 * Carries changes between the nodes that share a storage. Nothing is lost without a word: what could not be published is sent
 * again, and whoever may have missed something is told.
 */
export class HubRelay {
  readonly #config: ServerConfig;
  readonly #storage: Storage;
  readonly #receiver: RelayReceiver;
  /** Marks this node's own messages, because a node receives those too. */
  #node: string | undefined;
  #attaching: Promise<void> | undefined;
  #unsubscribe: Unsubscribe | undefined;
  /** True if subscribing failed, so that changes have been missed by the time it succeeds. */
  #failedBefore = false;
  /** Changes that could not be published, each once. */
  readonly #unsent = new Map<string, string>();
  #retry: Timer | undefined;
  #detached = false;
  #warned = false;

  constructor(config: ServerConfig, storage: Storage, receiver: RelayReceiver) {
    this.#config = config;
    this.#storage = storage;
    this.#receiver = receiver;
  }

  get attached(): boolean {
    return this.#unsubscribe !== undefined;
  }

  /** Subscribes to the storage, once however often it is called. Throws when that fails; it is tried again later. */
  attach(): void | Promise<void> {
    if (this.#unsubscribe !== undefined) return undefined;
    if (this.#attaching !== undefined) return this.#attaching;
    this.#detached = false;
    const subscribed = this.#storage.pubsub.subscribe(
      this.#topic(),
      (message) => this.#receive(message),
      () => this.#receiver.onGap(),
    );
    if (!isThenable(subscribed)) {
      this.#subscribed(subscribed);
      return undefined;
    }
    this.#attaching = subscribed
      .then(
        (unsubscribe) => this.#subscribed(unsubscribe),
        (error) => {
          this.#failedBefore = true;
          this.#scheduleRetry();
          throw error;
        },
      )
      .finally(() => {
        this.#attaching = undefined;
      });
    return this.#attaching;
  }

  publish(change: PublishedChange): void {
    this.#send(`${change.filter} ${change.value ?? ""}`, JSON.stringify({ from: this.#self(), change }));
  }

  async detach(): Promise<void> {
    this.#detached = true;
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#unsent.clear();
    await this.#attaching?.catch(() => undefined);
    const unsubscribe = this.#unsubscribe;
    this.#unsubscribe = undefined;
    await unsubscribe?.();
  }

  #subscribed(unsubscribe: Unsubscribe): void {
    this.#unsubscribe = unsubscribe;
    this.#publishSecretMark();
    if (!this.#failedBefore) return;
    this.#failedBefore = false;
    this.#receiver.onGap();
  }

  /** Lets other nodes see whether they have the same secret: a text that only its owners can make. */
  #publishSecretMark(): void {
    const text = JSON.stringify({ from: this.#self(), [SECRET]: this.#config.secrets.sign(SECRET, "") });
    guarded(
      () => this.#storage.pubsub.publish(this.#topic(), text),
      () => {},
    );
  }

  #compareSecret(mark: string): void {
    if (this.#warned || this.#config.secrets.verify(SECRET, mark) !== undefined) return;
    this.#warned = true;
    this.#config.platform.warn(
      "another process on this storage has another `secret`: cursors and the state of questions of one are refused by the other. Give every process of this server the same `secret`.",
    );
    // The other one may have started before this one and has not compared yet.
    this.#publishSecretMark();
  }

  #send(key: string, text: string): void {
    const failed = (error: unknown) => {
      this.#config.platform.warn(`a change did not reach other nodes: ${String(error)}`);
      this.#queue(key, text);
    };
    try {
      const published = this.#storage.pubsub.publish(this.#topic(), text);
      if (isThenable(published)) published.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #queue(key: string, text: string): void {
    if (this.#detached) return;
    if (this.#unsent.size >= MAX_UNSENT) {
      this.#unsent.clear();
      this.#unsent.set(MISSED, JSON.stringify({ from: this.#self(), [MISSED]: true }));
    } else if (!this.#unsent.has(MISSED)) {
      this.#unsent.set(key, text);
    }
    this.#scheduleRetry();
  }

  #scheduleRetry(): void {
    if (this.#detached || this.#retry !== undefined) return;
    this.#retry = this.#config.platform.timer(RETRY_MS, () => {
      this.#retry = undefined;
      const unsent = [...this.#unsent];
      this.#unsent.clear();
      for (const [key, text] of unsent) this.#send(key, text);
      if (this.#failedBefore) this.#attachAgain();
    });
  }

  #attachAgain(): void {
    try {
      // A failure has scheduled the next trial already.
      void Promise.resolve(this.attach()).catch(() => undefined);
    } catch {
      this.#scheduleRetry();
    }
  }

  #topic(): string {
    return `server/${this.#config.info.name}/changes`;
  }

  #self(): string {
    this.#node ??= this.#config.randomId();
    return this.#node;
  }

  #receive(text: string): void {
    const message = readMessage(text, this.#self());
    if (message === undefined) return;
    if (message === MISSED) this.#receiver.onGap();
    else if (typeof message === "string") this.#compareSecret(message.slice(SECRET.length));
    else this.#receiver.deliver(message);
  }
}

/** The message of another node; undefined for this node's own messages and for malformed ones. */
function readMessage(message: string, self: string): PublishedChange | string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["from"] === self) return undefined;
  if (value[MISSED] === true) return MISSED;
  if (typeof value[SECRET] === "string") return SECRET + value[SECRET];
  const change = value["change"];
  if (!isObject(change) || typeof change["filter"] !== "string" || typeof change["method"] !== "string") {
    return undefined;
  }
  // Delivery depends on the two members checked above; every node of a server writes the others the same way.
  return change as unknown as PublishedChange;
}
