import {
  type DeleteOptions,
  type KeyValue,
  type SetOptions,
  StorageFailure,
  type Versioned,
} from "@parley/mcp/storage";
import type { Commands } from "./commands.js";
import type { KeyNames } from "./key-names.js";
import { type FreeNumber, lifetime } from "./script-numbers.js";
import { deleteValue, setValue } from "./scripts.js";

/** The digits of a version before the text of a value. */
const VERSION_DIGITS = 16;

/** Values with versions: one string each, so that a read is one plain GET. */
export class RedisKeyValue implements KeyValue {
  readonly #commands: Commands;
  readonly #names: KeyNames;
  readonly #versions: FreeNumber;

  constructor(commands: Commands, names: KeyNames, versions: FreeNumber) {
    this.#commands = commands;
    this.#names = names;
    this.#versions = versions;
  }

  async get(key: string): Promise<Versioned | undefined> {
    const name = this.#names.value(key);
    const found = await this.#commands.sendAgain(name, ["GET", name]);
    if (typeof found !== "string") return undefined;
    const version = Number(found.slice(0, VERSION_DIGITS));
    if (!Number.isSafeInteger(version) || found.length < VERSION_DIGITS) throw notOurs();
    this.#versions.seen(version);
    return { value: found.slice(VERSION_DIGITS), version };
  }

  async set(key: string, value: string, { ttlMs, ifVersion }: SetOptions = {}): Promise<number | undefined> {
    const args = [value, lifetime(ttlMs), ifVersion === undefined ? "" : `${ifVersion}`, `${this.#versions.next()}`];
    const version = await this.#commands.run(setValue, [this.#names.value(key)], args);
    if (typeof version !== "number") return undefined;
    this.#versions.seen(version);
    return version;
  }

  async delete(key: string, { ifVersion }: DeleteOptions = {}): Promise<boolean> {
    const name = this.#names.value(key);
    if (ifVersion === undefined) return (await this.#commands.send(name, ["UNLINK", name])) === 1;
    return (await this.#commands.run(deleteValue, [name], [`${ifVersion}`])) === 1;
  }

  async touch(key: string, ttlMs: number): Promise<boolean> {
    const name = this.#names.value(key);
    return (await this.#commands.sendAgain(name, ["PEXPIRE", name, lifetime(ttlMs)])) === 1;
  }
}

function notOurs(): StorageFailure {
  return new StorageFailure(
    "corrupt",
    "A key under the prefix holds something that this storage has not written.",
    "Give redisStorage a `prefix` that nothing else uses.",
  );
}
