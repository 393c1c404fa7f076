import {
  type DeleteOptions,
  type KeyValue,
  type SetOptions,
  StorageFailure,
  type Versioned,
} from "@parley/mcp/storage";
import type { Commands } from "./commands.js";
import type { KeyNames } from "./key-names.js";
import { lifetime, type MonotonicNumber } from "./script-numbers.js";
import { deleteValue, setValue } from "./scripts.js";

/** Number of digits of the version that precedes the text of a value. */
const VERSION_DIGITS = 16;

/** Values with versions, one string each, so that a read is a plain GET. */
export class RedisKeyValue implements KeyValue {
  readonly #commands: Commands;
  readonly #names: KeyNames;
  readonly #versions: MonotonicNumber;

  constructor(commands: Commands, names: KeyNames, versions: MonotonicNumber) {
    this.#commands = commands;
    this.#names = names;
    this.#versions = versions;
  }

  async get(key: string): Promise<Versioned | undefined> {
    const name = this.#names.value(key);
    const found = await this.#commands.sendIdempotent(name, ["GET", name]);
    if (typeof found !== "string") return undefined;
    const version = Number(found.slice(0, VERSION_DIGITS));
    if (!Number.isSafeInteger(version) || found.length < VERSION_DIGITS) throw foreignValue();
    this.#versions.observe(version);
    return { value: found.slice(VERSION_DIGITS), version };
  }

  async set(key: string, value: string, { ttlMs, ifVersion }: SetOptions = {}): Promise<number | undefined> {
    const args = [value, lifetime(ttlMs), ifVersion === undefined ? "" : `${ifVersion}`, `${this.#versions.next()}`];
    const version = await this.#commands.run(setValue, [this.#names.value(key)], args);
    if (typeof version !== "number") return undefined;
    this.#versions.observe(version);
    return version;
  }

  async delete(key: string, { ifVersion }: DeleteOptions = {}): Promise<boolean> {
    const name = this.#names.value(key);
    if (ifVersion === undefined) return (await this.#commands.send(name, ["UNLINK", name])) === 1;
    return (await this.#commands.run(deleteValue, [name], [`${ifVersion}`])) === 1;
  }

  async touch(key: string, ttlMs: number): Promise<boolean> {
    const name = this.#names.value(key);
    return (await this.#commands.sendIdempotent(name, ["PEXPIRE", name, lifetime(ttlMs)])) === 1;
  }
}

function foreignValue(): StorageFailure {
  return new StorageFailure(
    "corrupt",
    "A key under the prefix holds a value that this storage did not write.",
    "Set `prefix` of redisStorage to a value that nothing else uses.",
  );
}
