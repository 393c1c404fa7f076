import { guarded, isThenable } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import type { Timer } from "../../platform/platform.js";
import type { Storage, Unsubscribe } from "../../storage/storage.js";
import type { ServerConfig } from "../call/server-config.js";
import type { PublishedChange } from "./change.js";

/** Receives the messages of other nodes. */
interface RelayReceiver {
  deliver(change: PublishedChange): void;
  /** Called when this node may have missed changes of other nodes. */
  onGap(): void;
}

/** Pause before failed publications, or a failed subscription to the storage, are tried again. */
const RETRY_MS = 1000;
/** Maximum number of changes queued while the storage fails. Beyond it, other nodes are notified of a gap instead. */
const MAX_UNSENT = 1000;
const MISSED = "missed";
const SECRET = "secret";

/**
 * Carries changes between the nodes that share a storage. Failed publications are retried, and subscribers are notified
 * of gaps.
 */
export class HubRelay {
  readonly #config: ServerConfig;
  readonly #storage: Storage;
  readonly #receiver: RelayReceiver;
  /** Marks this node's own messages, because the storage delivers them to this node too. */
  #node: string | undefined;
  #attaching: Promise<void> | undefined;
  #unsubscribe: Unsubscribe | undefined;
  /** True if the last attempt to subscribe failed. This node may miss changes until the next attempt succeeds. */
  #failedBefore = false;
  /** Changes that could not be published, by filter and value. A later change replaces an earlier one. */
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

  /**
   * Subscribes to the storage. Repeated calls share one subscription. Throws or rejects if subscribing fails. After a
   * rejection, the relay retries later.
   */
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

  /** Publishes a text that only owners of the secret can create, so that other nodes can compare secrets. */
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
      "another process on this storage uses a different `secret`, so each process refuses the cursors and question states of the other. Give every process of this server the same `secret`.",
    );
    // The other node may have subscribed after this node's first mark. With a second mark, that node can compare and
    // warn too.
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
      // A rejection has already scheduled the next attempt.
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

/**
 * Parses a message of another node: a change, `MISSED`, or `SECRET` followed by the other node's mark. Returns
 * undefined for this node's own messages and for malformed ones.
 */
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
  // Safe: delivery depends on the two members checked above, and every node of a server writes the others in the same
  // way.
  return change as unknown as PublishedChange;
}
