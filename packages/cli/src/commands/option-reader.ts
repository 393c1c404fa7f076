import { UsageError } from "../terminal/usage-error.js";

/** Reads the options of one invocation by their long names, in camel case. */
export class OptionReader {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  /** Returns a reader in which one option has another value. */
  with(name: string, value: unknown): OptionReader {
    return new OptionReader({ ...this.#values, [name]: value });
  }

  /** Returns true if an option without a value is present. */
  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Returns true if `--no-<name>` is present. */
  isOff(name: string): boolean {
    return this.#values[name] === false;
  }

  /** Returns the value of an option. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** Returns all values of a repeatable option. */
  many(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  /** Returns a whole number from `least` to `most`. Throws a `UsageError` for anything else. */
  count(name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= least && count <= most) return count;
    const bound = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    const what = /^\d+$/.test(text) ? `${text} is out of range` : `"${text}" is not a whole number`;
    throw new UsageError(`${what} for --${flagOf(name)}`, `Use a whole number ${bound}.`);
  }

  /**
   * Returns a duration in milliseconds. The user writes it as `500ms`, `30s`, `5m` or `2h`, or in seconds without a
   * unit. Throws a `UsageError` for anything else, and for more than `MAX_DURATION_MS`.
   */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
    const ms = Number(amount) * ({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? Number.NaN);
    if (ms > 0 && ms <= MAX_DURATION_MS) return ms;
    throw new UsageError(
      `"${text}" is not a duration for --${flagOf(name)}`,
      "Use seconds, or a number with a unit: 500ms, 30s, 5m, 2h. The maximum is 24h.",
    );
  }
}

/**
 * Maximum duration in milliseconds: one day. No command should wait longer, and Node timers support at most 24 days.
 */
const MAX_DURATION_MS = 24 * 3_600_000;

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
