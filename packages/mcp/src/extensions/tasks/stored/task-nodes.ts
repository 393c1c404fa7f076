import { neverUnhandled } from "../../../encoding/maybe-promise.js";
import { thrownMessage } from "../../../encoding/thrown-message.js";
import type { Platform, Timer } from "../../../platform/platform.js";
import { serverClosed } from "../../../protocol/error.js";
import type { KeyValue } from "../../../storage/storage.js";
import { NodeTasks } from "./node-tasks.js";

/** Attempts to write a list that other processes write at the same time. */
const MAX_ATTEMPTS = 64;
/** Beats without a task after which a process leaves the list. */
const IDLE_BEATS = 3;
/** Processes of one server that may have tasks at once. */
const MAX_NODES = 10_000;

/** What the list of processes knows of one of them: until when it may have tasks, and in how many lists they are. */
type ListedNode = readonly [until: number, lists: number];
type ListedNodes = Readonly<Record<string, ListedNode>>;

/** Told about what happens to the tasks of this process and of others. */
export interface NodeEvents {
  /** The process that ran these tasks is gone: returns those that need not be looked at again. */
  orphaned(ids: readonly string[], node: string): Promise<readonly string[]>;
  /** Called after all processes were looked at. */
  scanned(): Promise<void>;
  /** Called with each beat. `lost` if others may have taken this process for gone. */
  beat(lost: boolean): void;
  /** This process leaves its tasks to others. */
  left(): void;
}

/**
 * Which processes of a server run tasks, in the storage that they share. Each says in intervals that it lives; the tasks of one
 * that no longer does are taken over. The storage's clock decides, so that clocks of processes may differ.
 */
export class TaskNodes {
  /** The name of this process. */
  readonly self: string;
  readonly #kv: KeyValue;
  readonly #platform: Platform;
  readonly #base: string;
  readonly #leaseMs: number;
  readonly #events: NodeEvents;
  readonly #mine: NodeTasks;
  /** Entering and leaving the list of processes happen one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  /** What the list says of this process; undefined if it is not listed. */
  #listed: ListedNode | undefined;
  #idle = 0;
  #provenAt = 0;
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
    this.#mine = new NodeTasks(kv, platform, (list) => this.#listKey(self, list));
  }

  /** Begins to look for tasks of processes that are gone; once, however often it is called. */
  watch(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#schedule(0);
  }

  /** Looks for them now, because a process said that it leaves. */
  scan(): void {
    if (this.#closed) return;
    this.#scanning ??= this.#takeOver()
      .catch((error: unknown) => this.#warn(error))
      .finally(() => {
        this.#scanning = undefined;
      });
  }

  /** Resolves when it is stored that this process runs a task, which expires at `until`. */
  async add(id: string, until: number): Promise<void> {
    if (this.#closed) throw serverClosed();
    this.#mine.add(id, until);
    this.#idle = 0;
    this.watch();
    await this.#enter(until);
    await this.#mine.store(id);
  }

  /**
   * Makes sure that others still count on this process: called after a task was stored, because it may have been silent for so
   * long before that its list was taken away.
   */
  async confirm(): Promise<void> {
    if (this.#platform.monotonic() - this.#provenAt < this.#leaseMs / 2) return;
    await this.#prove();
  }

  /** The task is over, or is no longer run here. The list forgets it with the next beat. */
  remove(id: string): void {
    if (!this.#closed) this.#mine.remove(id);
  }

  /** Leaves the tasks that are still here to other processes. Never rejects: what cannot be stored, others see with the lease. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#beating;
    await this.#scanning;
    await this.#inTurn(async () => {
      if (this.#listed === undefined) return;
      await this.#kv.delete(this.#aliveKey(this.self));
      await this.#mine.storeAll(false);
      if (this.#mine.size === 0) await this.#updateNodes(({ [this.self]: _self, ...others }) => others);
      else this.#events.left();
    }).catch((error: unknown) => this.#warn(error));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = neverUnhandled(done).catch(() => {});
    return done;
  }

  /** Stores that this process lives and may have tasks until then. The entry is made wider than needed, to be changed seldom. */
  async #enter(until: number): Promise<void> {
    if (this.#covers(until)) return;
    await this.#inTurn(async () => {
      if (this.#closed) throw serverClosed();
      if (this.#covers(until)) return;
      const now = this.#platform.now();
      const [before, lists] = this.#listed ?? [0, 1];
      const wider: ListedNode = [
        Math.max(before, until + Math.max(until - now, this.#leaseMs)),
        this.#mine.lists > lists ? this.#mine.lists * 2 : lists,
      ];
      await this.#list(wider);
    });
  }

  #covers(until: number): boolean {
    return this.#listed !== undefined && this.#listed[0] >= until && this.#listed[1] >= this.#mine.lists;
  }

  async #list(entry: ListedNode): Promise<void> {
    const since = this.#platform.monotonic();
    await this.#kv.set(this.#aliveKey(this.self), "1", { ttlMs: this.#leaseMs });
    await this.#updateNodes((nodes) => ({ ...nodes, [this.self]: entry }));
    this.#listed = entry;
    this.#provenAt = since;
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
      // Not awaited: however long it takes to take over tasks, this process goes on saying that it lives.
      this.scan();
    });
  }

  async #beat(): Promise<void> {
    const lost = await this.#prove();
    if (this.#closed) return;
    this.#events.beat(lost);
    if (this.#listed === undefined || this.#mine.size > 0 || ++this.#idle < IDLE_BEATS) return;
    await this.#leave();
  }

  /** Says that this process lives. Resolves with true if others may have taken it for gone. */
  async #prove(): Promise<boolean> {
    if (this.#listed === undefined) return false;
    const since = this.#platform.monotonic();
    const lost = !(await this.#kv.touch(this.#aliveKey(this.self), this.#leaseMs));
    if (lost) await this.#relist();
    await this.#mine.storeAll(lost);
    this.#provenAt = since;
    return lost;
  }

  /** Enters the list again, from which this process was taken although it lives. */
  #relist(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#listed !== undefined && !this.#closed) await this.#list(this.#listed);
    });
  }

  /** Leaves the list as long as there are no tasks here. */
  #leave(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#mine.size > 0) return;
      // First: a task that comes meanwhile enters the list again.
      this.#listed = undefined;
      await this.#mine.storeAll(false);
      if (this.#mine.size > 0) return;
      await this.#updateNodes(({ [this.self]: _self, ...others }) => others);
      await this.#kv.delete(this.#aliveKey(this.self));
    });
  }

  async #takeOver(): Promise<void> {
    const nodes = await this.#nodes();
    await this.#checkEntry(Object.hasOwn(nodes, this.self));
    for (const [node, [, lists]] of Object.entries(nodes)) {
      if (this.#closed) return;
      if (node !== this.self && !(await this.#lives(node))) await this.#takeFrom(node, lists);
    }
    await this.#events.scanned();
  }

  /** Others may have taken this process from the list although it lives, and it may be there although it could not enter. */
  async #checkEntry(isThere: boolean): Promise<void> {
    if (this.#listed !== undefined && !isThere) {
      await this.#relist();
      await this.#mine.storeAll(true);
    } else if (this.#listed === undefined && isThere) {
      await this.#inTurn(async () => {
        if (this.#listed === undefined) await this.#updateNodes(({ [this.self]: _self, ...others }) => others);
      });
    }
  }

  async #lives(node: string): Promise<boolean> {
    return (await this.#kv.get(this.#aliveKey(node))) !== undefined;
  }

  /** Takes over the tasks of one process that is gone, and forgets the process when none is left. */
  async #takeFrom(node: string, lists: number): Promise<void> {
    let left = 0;
    for (let list = 0; list < lists; list++) {
      const found = await this.#kv.get(this.#listKey(node, list));
      if (found === undefined) continue;
      // Only this class writes it.
      const ids = JSON.parse(found.value) as string[];
      const settled = new Set(await this.#events.orphaned(ids, node));
      const others = ids.filter((id) => !settled.has(id));
      left += others.length;
      if (others.length > 0) continue;
      if (!(await this.#kv.delete(this.#listKey(node, list), { ifVersion: found.version }))) left++;
    }
    if (left > 0 || (await this.#lives(node))) return;
    await this.#updateNodes(({ [node]: _gone, ...others }) => others);
  }

  async #nodes(): Promise<ListedNodes> {
    return readNodes((await this.#kv.get(this.#base))?.value);
  }

  async #updateNodes(change: (nodes: ListedNodes) => ListedNodes): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#kv.get(this.#base);
      const now = this.#platform.now();
      const entries = Object.entries(change(readNodes(found?.value))).filter(([, [until]]) => until > now);
      if (entries.length > MAX_NODES) throw new Error(`more than ${MAX_NODES} processes run tasks of one server`);
      if (await this.#storeNodes(entries, found?.version ?? 0, now)) return;
    }
    throw new Error("the list of processes was changed by others each time it was to be written");
  }

  async #storeNodes(entries: [string, ListedNode][], ifVersion: number, now: number): Promise<boolean> {
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

/** Only this file writes the text. */
function readNodes(text: string | undefined): ListedNodes {
  return text === undefined ? {} : (JSON.parse(text) as ListedNodes);
}
