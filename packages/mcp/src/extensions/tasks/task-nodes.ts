import { neverUnhandled } from "../../encoding/never-unhandled.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Platform, Timer } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";

/** Attempts to write a list that another process writes at the same time. */
const MAX_ATTEMPTS = 64;

/** Told about what happens to the tasks of this process and of others. */
export interface NodeEvents {
  /** The process that ran these tasks is gone: returns those that need not be looked at again. */
  orphaned(ids: readonly string[], node: string): Promise<readonly string[]>;
  /** Called with each beat. */
  beat(): void;
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
  readonly #mine = new Set<string>();
  /** Writes of this process's own list happen one after the other; those that wait share one write. */
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #listed = false;
  #timer: Timer | undefined;
  #closed = false;

  constructor(kv: KeyValue, platform: Platform, server: string, self: string, leaseMs: number, events: NodeEvents) {
    this.#kv = kv;
    this.#platform = platform;
    this.#base = `server/${server}/task-nodes`;
    this.self = self;
    this.#leaseMs = leaseMs;
    this.#events = events;
  }

  /** Begins to look for tasks of processes that are gone; once, however often it is called. */
  watch(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#schedule(0);
  }

  /** Resolves when it is stored that this process runs a task. */
  async add(id: string): Promise<void> {
    this.#mine.add(id);
    this.watch();
    if (!this.#listed) await this.#list();
    await this.#write();
  }

  async #list(): Promise<void> {
    await this.#kv.set(this.#aliveKey(this.self), "1", { ttlMs: this.#leaseMs });
    await this.#updateNodes((nodes) => (nodes.includes(this.self) ? nodes : [...nodes, this.self]));
    this.#listed = true;
  }

  /** The task is over, or is no longer run here. The list forgets it with the next beat. */
  remove(id: string): void {
    this.#mine.delete(id);
  }

  /** Leaves the list of processes, if no task is left here. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    if (!this.#listed) return;
    await this.#kv.delete(this.#aliveKey(this.self));
    if (this.#mine.size > 0) return;
    await this.#kv.delete(this.#listKey(this.self));
    await this.#updateNodes((nodes) => nodes.filter((node) => node !== this.self));
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    this.#timer = this.#platform.timer(ms, () => {
      const beat = this.#beat().catch((error: unknown) => {
        this.#platform.warn(`the state of tasks could not be stored: ${thrownMessage(error)}`);
      });
      neverUnhandled(beat.then(() => this.#schedule(this.#leaseMs / 3)));
    });
  }

  async #beat(): Promise<void> {
    if (this.#listed && !(await this.#kv.touch(this.#aliveKey(this.self), this.#leaseMs))) await this.#list();
    if (this.#listed) await this.#write();
    await this.#takeOver();
    this.#events.beat();
  }

  async #takeOver(): Promise<void> {
    const nodes = await this.#nodes();
    // A process that was silent for too long was taken from the list, although it lives.
    if (this.#listed && !nodes.includes(this.self)) await this.#list();
    for (const node of nodes) {
      if (node === this.self || (await this.#kv.get(this.#aliveKey(node))) !== undefined) continue;
      const found = await this.#kv.get(this.#listKey(node));
      // Only this class writes it.
      const ids = found === undefined ? [] : (JSON.parse(found.value) as string[]);
      const settled = new Set(await this.#events.orphaned(ids, node));
      const left = ids.filter((id) => !settled.has(id));
      const ifVersion = found?.version;
      if (left.length > 0) await this.#kv.set(this.#listKey(node), JSON.stringify(left), { ifVersion });
      else if (found === undefined || (await this.#kv.delete(this.#listKey(node), { ifVersion }))) {
        await this.#updateNodes((known) => known.filter((one) => one !== node));
      }
    }
  }

  async #nodes(): Promise<string[]> {
    const found = await this.#kv.get(this.#nodesKey);
    return found === undefined ? [] : (JSON.parse(found.value) as string[]);
  }

  async #updateNodes(change: (nodes: string[]) => string[]): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#kv.get(this.#nodesKey);
      const nodes = change(found === undefined ? [] : (JSON.parse(found.value) as string[]));
      const written = await this.#kv.set(this.#nodesKey, JSON.stringify(nodes), { ifVersion: found?.version ?? 0 });
      if (written !== undefined) return;
    }
    throw new Error("the list of processes was changed by others each time it was to be written");
  }

  /** Stores which tasks run here. Calls during a write share the next one. */
  #write(): Promise<void> {
    if (this.#writing === undefined) {
      this.#writing = this.#writeNow().finally(() => {
        this.#writing = undefined;
      });
      return this.#writing;
    }
    this.#next ??= this.#writing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#write();
      });
    return this.#next;
  }

  async #writeNow(): Promise<void> {
    await this.#kv.set(this.#listKey(this.self), JSON.stringify([...this.#mine]));
  }

  get #nodesKey(): string {
    return `${this.#base}`;
  }

  #listKey(node: string): string {
    return `${this.#base}/${node}/tasks`;
  }

  #aliveKey(node: string): string {
    return `${this.#base}/${node}/alive`;
  }
}
