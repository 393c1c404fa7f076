import { guarded } from "../../encoding/maybe-promise.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { type PubSub, StorageError } from "../../storage/storage.js";
import type { Database } from "./database.js";
import { fromColumn, type SqlStatement, toColumn } from "./node-sqlite.js";

/** How soon a message of another process is heard, while somebody subscribes. */
const POLL_MS = 10;
/** The same after so many looks in vain: an idle process need not wake 100 times a second. */
const IDLE_POLL_MS = 40;
const LOOKS_UNTIL_IDLE = 200;
/** How long a message waits for processes that are busy, and how many may wait; who comes later learns of a gap. */
const KEPT_MS = 30_000;
const KEPT_MESSAGES = 10_000;
const MAX_SUBSCRIPTIONS = 100_000;
/** Messages read at once, and how often in a row before other work has its turn. */
const PAGE = 100;
const PAGES = 10;

interface Subscription {
  readonly deliver: (message: string) => void;
  readonly onGap: (() => void) | undefined;
  /** The last message before it began. */
  readonly since: number;
  active: boolean;
}

/**
 * Messages through a table of the SQLite file. All processes hear all messages in the one order of their ids. A publisher
 * delivers to its own subscriptions before `publish` returns; others see by a look at the file's version that there is more.
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
  /** The last message that was read. */
  #cursor = 0;
  #seen: unknown;
  /** Looks in a row that found nothing new. */
  #idleLooks = 0;
  #timer: Timer | undefined;
  #reading = false;
  /** Whether a message was published since the last page was read. */
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
    this.#idleLooks = 0;
    this.#deliverNew();
  }

  subscribe(topic: string, deliver: (message: string) => void, onGap?: () => void): () => void {
    if (this.#size >= MAX_SUBSCRIPTIONS) {
      throw new StorageError("maxSubscriptions", MAX_SUBSCRIPTIONS, "End subscriptions, or use several processes.");
    }
    const since = Number(this.#database.get(this.#newest)?.["message"]);
    if (this.#size === 0) {
      this.#cursor = since;
      this.#look();
    }
    const subscription: Subscription = { deliver, onGap, since, active: true };
    const subscriptions = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, subscriptions.add(subscription));
    this.#size++;
    this.#idleLooks = 0;
    return () => {
      if (!subscription.active) return;
      subscription.active = false;
      this.#size--;
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#topics.get(topic) === subscriptions) this.#topics.delete(topic);
      if (this.#size === 0) this.#stopLooking();
    };
  }

  close(): void {
    for (const subscription of this.#all()) subscription.active = false;
    this.#topics.clear();
    this.#size = 0;
    this.#stopLooking();
  }

  /** Looks again and again whether another process has written. */
  #look(): void {
    const ms = this.#idleLooks < LOOKS_UNTIL_IDLE ? POLL_MS : IDLE_POLL_MS;
    this.#timer = this.#platform.timer(ms, () => {
      this.#look();
      guarded(
        () => {
          const version = this.#database.dataVersion();
          this.#idleLooks++;
          if (version === this.#seen) return;
          this.#seen = version;
          this.#idleLooks = 0;
          this.#deliverNew();
        },
        // Nothing is missed: the next look starts where this one did, and the next call of a method tells its caller.
        () => {
          this.#seen = undefined;
        },
      );
    });
  }

  #stopLooking(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #deliverNew(): void {
    // A `deliver` that publishes: the loop below comes to its message.
    if (this.#reading || this.#size === 0) return;
    this.#reading = true;
    try {
      for (let page = 0; page < PAGES; page++) {
        this.#published = false;
        if (!this.#deliverPage() && !this.#published) return;
      }
      // The next look reads on, whether another process has written or not.
      this.#seen = undefined;
    } finally {
      this.#reading = false;
    }
  }

  /** Returns whether the page was full, so that there may be more. */
  #deliverPage(): boolean {
    const rows = this.#database.all(this.#read, this.#cursor, PAGE);
    this.#noteLost(Number(rows[0]?.["lost"] ?? 0));
    for (const { id, topic, message } of rows) {
      if (id === null) return false;
      this.#cursor = Number(id);
      const text = fromColumn(message);
      for (const one of [...(this.#topics.get(fromColumn(topic)) ?? [])]) {
        if (one.active && one.since < this.#cursor) this.#call(() => one.deliver(text));
      }
    }
    return rows.length === PAGE && this.#size > 0;
  }

  #noteLost(lost: number): void {
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
        Number(at) + KEPT_MS <= now || Number(id) <= newest - KEPT_MESSAGES;
      const old = oldest.all(rows).filter(isOld);
      const last = old.at(-1)?.["id"];
      if (last === undefined) return 0;
      remove.run(Number(last));
      note.run(Number(last));
      return old.length;
    });
  }
}
