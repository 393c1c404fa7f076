import type { AppendLog, LogEntry, LogLimits, LogRead } from "@parley/mcp/storage";
import type { Commands } from "./commands.js";
import type { KeyNames } from "./key-names.js";
import { lifetime, type MonotonicNumber } from "./script-numbers.js";
import { appendEntry, readEntries, touchStream } from "./scripts.js";

/** Maximum number of entries that one read requests. */
const MAX_ENTRIES = 1_000_000;
const EVICTED: LogRead = { evicted: true };

/** Append log on Redis streams, each with its state in a separate small string. */
export class RedisAppendLog implements AppendLog {
  readonly #commands: Commands;
  readonly #names: KeyNames;
  readonly #ids: MonotonicNumber;

  constructor(commands: Commands, names: KeyNames, ids: MonotonicNumber) {
    this.#commands = commands;
    this.#names = names;
    this.#ids = ids;
  }

  async append(stream: string, entry: string, limits: LogLimits): Promise<number> {
    const { maxEntries, maxBytes, maxAgeMs, ttlMs } = limits;
    const ends = [lifetime(maxAgeMs), lifetime(ttlMs)];
    const args = [entry, `${maxEntries}`, `${maxBytes}`, ...ends, `${this.#ids.next()}`];
    const id = Number(await this.#commands.run(appendEntry, this.#names.stream(stream), args));
    this.#ids.observe(id);
    return id;
  }

  async read(stream: string, afterId: number, limit: number): Promise<LogRead> {
    if (!Number.isSafeInteger(afterId) || afterId < 0) return EVICTED;
    const args = [`${afterId}`, `${Math.max(0, Math.min(limit, MAX_ENTRIES))}`];
    const reply = await this.#commands.run(readEntries, this.#names.stream(stream), args);
    if (!Array.isArray(reply)) return EVICTED;
    const entries: LogEntry[] = [];
    for (let at = 0; at < reply.length; at += 2) {
      const id = Number(reply[at]);
      this.#ids.observe(id);
      entries.push({ id, entry: String(reply[at + 1]) });
    }
    return { evicted: false, entries };
  }

  async touch(stream: string, ttlMs: number): Promise<boolean> {
    return (await this.#commands.run(touchStream, this.#names.stream(stream), [lifetime(ttlMs)])) === 1;
  }

  async drop(stream: string): Promise<void> {
    const [entries, figures] = this.#names.stream(stream);
    await this.#commands.sendIdempotent(entries, ["UNLINK", entries, figures]);
  }
}
