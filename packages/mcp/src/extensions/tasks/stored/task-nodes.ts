import { neverUnhandled } from "../../../encoding/maybe-promise.js";
import { thrownMessage } from "../../../encoding/thrown-message.js";
import type { Platform, Timer } from "../../../platform/platform.js";
import { serverClosed } from "../../../protocol/error.js";
import type { KeyValue } from "../../../storage/storage.js";
import { NodeTasks } from "./node-tasks.js";

/**
 * Maximum number of attempts to write the list of processes, which other processes write at the same time. After the
 * last attempt, the write fails.
 */
const MAX_ATTEMPTS = 64;
/** Number of consecutive heartbeats without a task after which a process leaves the list of processes. */
const IDLE_BEATS = 3;
/**
 * Maximum number of processes of one server that may have tasks at the same time. Further processes cannot start tasks.
 */
const MAX_NODES = 10_000;

/**
 * The entry of one process in the list of processes: the time until which it may have tasks, and the number of its task
 * lists.
 */
type NodeEntry = readonly [until: number, lists: number];
type NodeEntries = Readonly<Record<string, NodeEntry>>;

/** Callbacks for events of this process and of other processes. */
export interface NodeEvents {
  /** Called with the tasks of a lost process. Resolves with the ids of the tasks that need not be checked again. */
  orphaned(ids: readonly string[], node: string): Promise<readonly string[]>;
  /** Called after all processes were checked. */
  scanned(): Promise<void>;
  /** Called with each heartbeat. `lost` is true if other processes may have considered this process lost. */
  beat(lost: boolean): void;
  /** Called when this process closes and leaves tasks to other processes. */
  left(): void;
}

/**
 * The processes of a server that run tasks, listed in their shared storage. Each process renews its entry with a
 * heartbeat, and other processes take over the tasks of a process without heartbeats. Only the clock of the storage
 * decides whether a process is lost, because the clocks of processes may differ.
 */
export class TaskNodes {
  /** The name of this process. */
  readonly self: string;
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #base: string;
  readonly #leaseMs: number;
  readonly #events: NodeEvents;
  readonly #tasks: NodeTasks;
  /** Serializes entering and leaving the list of processes. */
  #queue: Promise<unknown> = Promise.resolve();
  /** The entry of this process in the list. Undefined if it is not listed. */
  #entry: NodeEntry | undefined;
  #idle = 0;
  #renewedAt = 0;
  #timer: Timer | undefined;
  #beating: Promise<void> | undefined;
  #scanning: Promise<void> | undefined;
  #closed = false;

  constructor(kv: KeyValue, platform: Platform, server: string, self: string, leaseMs: number, events: NodeEvents) {
    this.#kv = kv;
    this.#platform = platform;
    this.#base = `server/${server}/task-nodes`;
    this.self = self;
    this.#leaseMs = leaseMs;
    this.#events = events;
    this.#tasks = new NodeTasks(kv, platform, (list) => this.#listKey(self, list));
  }

  /** Starts to look for tasks of lost processes. Repeated calls have no effect. */
  watch(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#schedule(0);
  }

  /**
   * Looks for tasks of lost processes now. Called with each heartbeat, and when a process announces that it leaves.
   */
  scan(): void {
    if (this.#closed) return;
    this.#scanning ??= this.#takeOver()
      .catch((error: unknown) => this.#warn(error))
      .finally(() => {
        this.#scanning = undefined;
      });
  }

  /** Stores that this process runs a task, which expires at `until`. */
  async add(id: string, until: number): Promise<void> {
    if (this.#closed) throw serverClosed();
    this.#tasks.add(id, until);
    this.#idle = 0;
    this.watch();
    await this.#enter(until);
    await this.#tasks.store(id);
  }

  /**
   * Renews the entry of this process if it may be outdated. Called after a task was stored, because other processes may
   * have removed the entry if the last heartbeat was too long ago.
   */
  async confirm(): Promise<void> {
    if (this.#platform.monotonic() - this.#renewedAt < this.#leaseMs / 2) return;
    await this.#renew();
  }

  /** Removes a task that has ended or no longer runs here. The next heartbeat stores the list without the task. */
  remove(id: string): void {
    if (!this.#closed) this.#tasks.remove(id);
  }

  /**
   * Leaves the remaining tasks to other processes. Never rejects: if the storage fails, other processes take over the
   * tasks when the lease expires.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#beating;
    await this.#scanning;
    await this.#serialize(async () => {
      if (this.#entry === undefined) return;
      await this.#kv.delete(this.#aliveKey(this.self));
      await this.#tasks.storeAll(false);
      if (this.#tasks.size === 0) await this.#updateNodes(({ [this.self]: _self, ...others }) => others);
      else this.#events.left();
    }).catch((error: unknown) => this.#warn(error));
  }

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = neverUnhandled(done).catch(() => {});
    return done;
  }

  /**
   * Stores that this process is alive and may have tasks until `until`. The stored entry covers a longer time and more
   * lists than needed, so that it seldom changes.
   */
  async #enter(until: number): Promise<void> {
    if (this.#covers(until)) return;
    await this.#serialize(async () => {
      if (this.#closed) throw serverClosed();
      if (this.#covers(until)) return;
      const now = this.#platform.now();
      const [before, lists] = this.#entry ?? [0, 1];
      const wider: NodeEntry = [
        Math.max(before, until + Math.max(until - now, this.#leaseMs)),
        this.#tasks.lists > lists ? this.#tasks.lists * 2 : lists,
      ];
      await this.#list(wider);
    });
  }

  #covers(until: number): boolean {
    return this.#entry !== undefined && this.#entry[0] >= until && this.#entry[1] >= this.#tasks.lists;
  }

  async #list(entry: NodeEntry): Promise<void> {
    const since = this.#platform.monotonic();
    await this.#kv.set(this.#aliveKey(this.self), "1", { ttlMs: this.#leaseMs });
    await this.#updateNodes((nodes) => ({ ...nodes, [this.self]: entry }));
    this.#entry = entry;
    this.#renewedAt = since;
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    this.#timer = this.#platform.timer(ms, () => {
      this.#beating = this.#beat()
        .catch((error: unknown) => this.#warn(error))
        .finally(() => {
          this.#beating = undefined;
          this.#schedule(this.#leaseMs / 3);
        });
      // Not awaited, because heartbeats must continue however long a take-over takes.
      this.scan();
    });
  }

  async #beat(): Promise<void> {
    const lost = await this.#renew();
    if (this.#closed) return;
    this.#events.beat(lost);
    if (this.#entry === undefined || this.#tasks.size > 0 || ++this.#idle < IDLE_BEATS) return;
    await this.#leave();
  }

  /** Renews the lease of this process. Resolves with true if other processes may have considered this process lost. */
  async #renew(): Promise<boolean> {
    if (this.#entry === undefined) return false;
    const since = this.#platform.monotonic();
    const lost = !(await this.#kv.touch(this.#aliveKey(this.self), this.#leaseMs));
    if (lost) await this.#relist();
    await this.#tasks.storeAll(lost);
    this.#renewedAt = since;
    return lost;
  }

  /** Enters the list again, because another process may have removed this process although it is alive. */
  #relist(): Promise<void> {
    return this.#serialize(async () => {
      if (this.#entry !== undefined && !this.#closed) await this.#list(this.#entry);
    });
  }

  /** Leaves the list, unless this process has tasks again. */
  #leave(): Promise<void> {
    return this.#serialize(async () => {
      if (this.#tasks.size > 0) return;
      // Clear the entry first, so that this process enters the list again if a task is added in the meantime.
      this.#entry = undefined;
      await this.#tasks.storeAll(false);
      if (this.#tasks.size > 0) return;
      await this.#updateNodes(({ [this.self]: _self, ...others }) => others);
      await this.#kv.delete(this.#aliveKey(this.self));
    });
  }

  async #takeOver(): Promise<void> {
    const nodes = await this.#nodes();
    await this.#checkEntry(Object.hasOwn(nodes, this.self));
    for (const [node, [, lists]] of Object.entries(nodes)) {
      if (this.#closed) return;
      if (node !== this.self && !(await this.#isAlive(node))) await this.#takeOverFrom(node, lists);
    }
    await this.#events.scanned();
  }

  /**
   * Repairs the entry of this process. Another process may have removed the entry, or the entry may exist although
   * writing it seemed to fail.
   */
  async #checkEntry(isThere: boolean): Promise<void> {
    if (this.#entry !== undefined && !isThere) {
      await this.#relist();
      await this.#tasks.storeAll(true);
    } else if (this.#entry === undefined && isThere) {
      await this.#serialize(async () => {
        if (this.#entry === undefined) await this.#updateNodes(({ [this.self]: _self, ...others }) => others);
      });
    }
  }

  async #isAlive(node: string): Promise<boolean> {
    return (await this.#kv.get(this.#aliveKey(node))) !== undefined;
  }

  /** Takes over the tasks of one lost process. Removes the process from the list when no task is left. */
  async #takeOverFrom(node: string, lists: number): Promise<void> {
    let left = 0;
    for (let list = 0; list < lists; list++) {
      const found = await this.#kv.get(this.#listKey(node, list));
      if (found === undefined) continue;
      // Safe: only `NodeTasks` writes the value.
      const ids = JSON.parse(found.value) as string[];
      const settled = new Set(await this.#events.orphaned(ids, node));
      const others = ids.filter((id) => !settled.has(id));
      left += others.length;
      if (others.length > 0) continue;
      if (!(await this.#kv.delete(this.#listKey(node, list), { ifVersion: found.version }))) left++;
    }
    if (left > 0 || (await this.#isAlive(node))) return;
    await this.#updateNodes(({ [node]: _gone, ...others }) => others);
  }

  async #nodes(): Promise<NodeEntries> {
    return readNodes((await this.#kv.get(this.#base))?.value);
  }

  async #updateNodes(change: (nodes: NodeEntries) => NodeEntries): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#kv.get(this.#base);
      const now = this.#platform.now();
      const entries = Object.entries(change(readNodes(found?.value))).filter(([, [until]]) => until > now);
      if (entries.length > MAX_NODES) throw new Error(`more than ${MAX_NODES} processes run tasks of one server`);
      if (await this.#storeNodes(entries, found?.version ?? 0, now)) return;
    }
    throw new Error("other processes changed the list of processes during every attempt to write it");
  }

  async #storeNodes(entries: [string, NodeEntry][], ifVersion: number, now: number): Promise<boolean> {
    if (entries.length === 0) return ifVersion === 0 || this.#kv.delete(this.#base, { ifVersion });
    const ttlMs = Math.max(...entries.map(([, [until]]) => until)) - now;
    const text = JSON.stringify(Object.fromEntries(entries));
    return (await this.#kv.set(this.#base, text, { ttlMs, ifVersion })) !== undefined;
  }

  #warn(error: unknown): void {
    this.#platform.warn(`the state of tasks could not be stored: ${thrownMessage(error)}`);
  }

  #listKey(node: string, list: number): string {
    return `${this.#base}/${node}/tasks/${list}`;
  }

  #aliveKey(node: string): string {
    return `${this.#base}/${node}/alive`;
  }
}

/** Reads the list of processes, which only this file writes. */
function readNodes(text: string | undefined): NodeEntries {
  return text === undefined ? {} : (JSON.parse(text) as NodeEntries);
}
