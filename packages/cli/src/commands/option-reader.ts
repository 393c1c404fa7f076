import { UsageError } from "../terminal/usage-error.js";

/** Reads the options of one invocation by their long names, in camel case. */
export class OptionReader {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  /** An option without a value. */
  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Whether `--no-<name>` was given. */
  isOff(name: string): boolean {
    return this.#values[name] === false;
  }

  /** An option with a value. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** An option that may be given several times. */
  many(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  /** A whole number from `least` to `most`. */
  count(name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= least && count <= most) return count;
    const bound = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    const what = /^\d+$/.test(text) ? `${text} is out of range` : `"${text}" is not a whole number`;
    throw new UsageError(`${what} for --${flagOf(name)}`, `Give a whole number ${bound}.`);
  }

  /** A duration: `500ms`, `30s`, `5m`, or seconds without a unit. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
    const ms = Number(amount) * ({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? Number.NaN);
    if (ms > 0 && ms <= LONGEST_MS) return ms;
    throw new UsageError(
      `"${text}" is not a duration for --${flagOf(name)}`,
      "Give seconds, or a number with a unit: 500ms, 30s, 5m, 2h; at most 24h.",
    );
  }
}

/** A day: timers of Node cannot wait for more than 24 days, and no command should. */
const LONGEST_MS = 24 * 3_600_000;

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
