import type { AppLimits, HostWindow } from "./app-options.js";

export const DEFAULT_APP_LIMITS: AppLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxMessagesPerSecond: 100,
  maxRequests: 16,
};

/** Levels of one message. */
const MAX_DEPTH = 64;
/** Values of one message. */
const MAX_VALUES = 100_000;

/**
 * What is wrong with a message of a window, which can be any value that can be cloned: maps, buffers, values that contain
 * themselves. Undefined if it is JSON within the limits, without a member that could become a prototype.
 */
export function messageFlaw(message: unknown, { maxMessageBytes }: AppLimits): string | undefined {
  let values = 0;
  let length = 0;
  const flawOf = (value: unknown, depth: number): string | undefined => {
    values += 1;
    if (values > MAX_VALUES) return `the message has more than ${MAX_VALUES} values`;
    if (typeof value === "string") length += value.length;
    if (length > maxMessageBytes) return `the message is longer than \`maxMessageBytes\`, ${maxMessageBytes}`;
    if (typeof value === "number" && !Number.isFinite(value)) return `the message holds ${value}`;
    if (typeof value !== "object") return typeof value === "bigint" ? "the message holds a bigint" : undefined;
    if (value === null) return undefined;
    if (depth >= MAX_DEPTH) return `the message is nested deeper than ${MAX_DEPTH} levels`;
    return Array.isArray(value) ? itemFlaw(value, depth + 1) : memberFlaw(value, depth + 1);
  };
  const itemFlaw = (items: readonly unknown[], depth: number) => {
    if (items.length > MAX_VALUES) return `the message has more than ${MAX_VALUES} values`;
    for (const item of items) {
      const flaw = flawOf(item, depth);
      if (flaw !== undefined) return flaw;
    }
    return undefined;
  };
  const memberFlaw = (value: object, depth: number) => {
    if (Object.getPrototypeOf(value) !== Object.prototype) return "the message holds something else than JSON";
    for (const [name, member] of Object.entries(value)) {
      if (name === "__proto__") return "the message has a member `__proto__`";
      length += name.length;
      const flaw = flawOf(member, depth);
      if (flaw !== undefined) return flaw;
    }
    return undefined;
  };
  return flawOf(message, 0);
}

/** How many messages may still come: refills with time, up to what two seconds allow. */
export class MessageRate {
  readonly #window: HostWindow;
  readonly #perSecond: number;
  #left: number;
  #at: number;
  #refused = 0;

  constructor(window: HostWindow, perSecond: number) {
    this.#window = window;
    this.#perSecond = perSecond;
    this.#left = 2 * perSecond;
    this.#at = window.performance.now();
  }

  /** Counts a message. `flood` is said when so many were refused that no page does it by mistake. */
  take(): "fine" | "refused" | "flood" {
    const now = this.#window.performance.now();
    this.#left = Math.min(2 * this.#perSecond, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    // A page that was quiet for a while has calmed down.
    if (this.#left === 2 * this.#perSecond) this.#refused = 0;
    if (this.#left < 1) {
      this.#refused += 1;
      return this.#refused > 10 * this.#perSecond ? "flood" : "refused";
    }
    this.#left -= 1;
    return "fine";
  }
}
