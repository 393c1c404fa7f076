import { guarded } from "../../encoding/maybe-promise.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { type PubSub, StorageError } from "../../storage/storage.js";
import type { Database } from "./database.js";
import { fromColumn, type SqlStatement, toColumn } from "./node-sqlite.js";

/** Polling interval for messages of other processes while there are subscribers, in milliseconds. */
const POLL_MS = 10;
/**
 * Polling interval in milliseconds after `POLLS_UNTIL_IDLE` consecutive polls without a write by another process.
 * Longer than `POLL_MS`, so that an idle process does not wake 100 times a second.
 */
const IDLE_POLL_MS = 40;
const POLLS_UNTIL_IDLE = 200;
/**
 * Maximum age in milliseconds, and maximum number, of messages that are retained for busy processes. A process that
 * reads later is notified of a gap.
 */
const RETENTION_MS = 30_000;
const MAX_RETAINED_MESSAGES = 10_000;
/** Maximum number of subscriptions in this process. Beyond it, `subscribe` throws. */
const MAX_SUBSCRIPTIONS = 100_000;
/** Maximum number of messages per read, and maximum number of reads in a row before other work gets a turn. */
const PAGE_SIZE = 100;
const MAX_PAGES_PER_TURN = 10;

interface Subscription {
  readonly deliver: (message: string) => void;
  readonly onGap: (() => void) | undefined;
  /** Id of the last message before the subscription began. */
  readonly since: number;
  active: boolean;
}

/**
 * Publishes messages through a table of the SQLite file. All processes receive all messages in the order of their ids.
 * A publisher delivers to its own subscribers before `publish` returns, unless `publish` is called inside `deliver` or
 * many earlier messages are still undelivered. Other processes poll the version of the file.
 */
export class SqlitePubSub implements PubSub {
  readonly #database: Database;
  readonly #platform: Platform;
  readonly #nextId: SqlStatement;
  readonly #newest: SqlStatement;
  readonly #add: SqlStatement;
  readonly #read: SqlStatement;
  readonly #topics = new Map<string, Set<Subscription>>();
  #size = 0;
  /** Id of the last message that was read. */
  #cursor = 0;
  #seenVersion: unknown;
  /** Consecutive polls without a write by another process. Reset by `publish` and `subscribe`. */
  #idlePolls = 0;
  #timer: Timer | undefined;
  #reading = false;
  /** True if a message was published since the last page was read. */
  #published = false;

  constructor(database: Database, platform: Platform) {
    this.#database = database;
    this.#platform = platform;
    this.#nextId = database.prepare("UPDATE counter SET message = message + 1 RETURNING message");
    this.#newest = database.prepare("SELECT message FROM counter");
    this.#add = database.prepare("INSERT INTO message (id, topic, message, at) VALUES (?, ?, ?, ?)");
    this.#read = database.prepare(
      `SELECT counter.lost, message.id, message.topic, message.message FROM counter
       LEFT JOIN message ON message.id > ? WHERE counter.rowid = 1 ORDER BY message.id LIMIT ?`,
    );
    this.#sweepOld();
  }

  publish(topic: string, message: string): void {
    this.#database.write((now) => {
      const id = Number(this.#nextId.get()?.["message"]);
      this.#add.run(id, toColumn(topic), toColumn(message), now);
    });
    this.#published = true;
    this.#idlePolls = 0;
    this.#deliverNew();
  }

  subscribe(topic: string, deliver: (message: string) => void, onGap?: () => void): () => void {
    if (this.#size >= MAX_SUBSCRIPTIONS) {
      throw new StorageError("maxSubscriptions", MAX_SUBSCRIPTIONS, "End subscriptions, or use several processes.");
    }
    const since = Number(this.#database.get(this.#newest)?.["message"]);
    if (this.#size === 0) {
      this.#cursor = since;
      this.#poll();
    }
    const subscription: Subscription = { deliver, onGap, since, active: true };
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    this.#size++;
    this.#idlePolls = 0;
    return () => {
      if (!subscription.active) return;
      subscription.active = false;
      this.#size--;
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#topics.get(topic) === subscriptions) this.#topics.delete(topic);
      if (this.#size === 0) this.#stopPolling();
    };
  }

  close(): void {
    for (const subscription of this.#all()) subscription.active = false;
    this.#topics.clear();
    this.#size = 0;
    this.#stopPolling();
  }

  /** Polls whether another process has written. */
  #poll(): void {
    const ms = this.#idlePolls < POLLS_UNTIL_IDLE ? POLL_MS : IDLE_POLL_MS;
    this.#timer = this.#platform.timer(ms, () => {
      this.#poll();
      guarded(
        () => {
          const version = this.#database.dataVersion();
          this.#idlePolls++;
          if (version === this.#seenVersion) return;
          this.#seenVersion = version;
          this.#idlePolls = 0;
          this.#deliverNew();
        },
        // No message is lost: the next poll starts at the same position. The next method call reports the error to its
        // caller.
        () => {
          this.#seenVersion = undefined;
        },
      );
    });
  }

  #stopPolling(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #deliverNew(): void {
    // If a `deliver` function publishes, the loop below is already running and also delivers that message.
    if (this.#reading || this.#size === 0) return;
    this.#reading = true;
    try {
      for (let page = 0; page < MAX_PAGES_PER_TURN; page++) {
        this.#published = false;
        if (!this.#deliverPage() && !this.#published) return;
      }
      // Makes the next poll continue, even if no other process has written.
      this.#seenVersion = undefined;
    } finally {
      this.#reading = false;
    }
  }

  /** Delivers one page. Returns true if the page was full, so that there may be more. */
  #deliverPage(): boolean {
    const rows = this.#database.all(this.#read, this.#cursor, PAGE_SIZE);
    this.#reportGap(Number(rows[0]?.["lost"] ?? 0));
    for (const { id, topic, message } of rows) {
      if (id === null) return false;
      this.#cursor = Number(id);
      const text = fromColumn(message);
      for (const one of [...(this.#topics.get(fromColumn(topic)) ?? [])]) {
        if (one.active && one.since < this.#cursor) this.#call(() => one.deliver(text));
      }
    }
    return rows.length === PAGE_SIZE && this.#size > 0;
  }

  #reportGap(lost: number): void {
    if (lost <= this.#cursor) return;
    this.#cursor = lost;
    for (const one of this.#all()) if (one.active && one.since < lost) this.#call(() => one.onGap?.());
  }

  #all(): Subscription[] {
    return [...this.#topics.values()].flatMap((subscriptions) => [...subscriptions]);
  }

  #call(run: () => void): void {
    guarded(run, (error) => this.#platform.warn(`a subscription of the storage failed: ${String(error)}`));
  }

  #sweepOld(): void {
    const oldest = this.#database.prepare("SELECT id, at FROM message ORDER BY id LIMIT ?");
    const remove = this.#database.prepare("DELETE FROM message WHERE id <= ?");
    const note = this.#database.prepare("UPDATE counter SET lost = ?");
    this.#database.onSweep((now, rows) => {
      const newest = Number(this.#newest.get()?.["message"]);
      const isOld = ({ id, at }: Readonly<Record<string, unknown>>) =>
        Number(at) + RETENTION_MS <= now || Number(id) <= newest - MAX_RETAINED_MESSAGES;
      const old = oldest.all(rows).filter(isOld);
      const last = old.at(-1)?.["id"];
      if (last === undefined) return 0;
      remove.run(Number(last));
      note.run(Number(last));
      return old.length;
    });
  }
}
