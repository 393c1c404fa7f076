import { acquireToken } from "../../../platform/token-bucket.js";
import type { AppLimits, HostWindow } from "./app-options.js";

export const DEFAULT_APP_LIMITS: AppLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxMessagesPerSecond: 100,
  maxRequests: 16,
};

/** Maximum nesting depth of one message. Deeper messages are refused. */
const MAX_DEPTH = 64;
/** Maximum number of values in one message. Larger messages are refused. */
const MAX_VALUES = 100_000;

/**
 * Returns the reason to refuse a message, or undefined to accept it. A window can post any value that can be cloned,
 * such as maps, buffers and cycles. Only JSON within the limits is accepted, without a member `__proto__`.
 */
export function messageFlaw(message: unknown, { maxMessageBytes }: AppLimits): string | undefined {
  let values = 0;
  let length = 0;
  const flawOf = (value: unknown, depth: number): string | undefined => {
    values += 1;
    if (values > MAX_VALUES) return `the message has more than ${MAX_VALUES} values`;
    if (typeof value === "string") length += value.length;
    if (length > maxMessageBytes) return `the message is longer than \`maxMessageBytes\`, ${maxMessageBytes}`;
    if (typeof value === "number" && !Number.isFinite(value)) return `the message contains ${value}`;
    if (typeof value !== "object") return typeof value === "bigint" ? "the message contains a bigint" : undefined;
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
    if (Object.getPrototypeOf(value) !== Object.prototype) return "the message contains a value that is not JSON";
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

/**
 * Returns a function that counts one message per call. It allows `perSecond` messages on average, and bursts of twice
 * as many. It returns `flood` after more than ten times `perSecond` refusals, which no page causes by mistake.
 */
export function messageRate(window: HostWindow, perSecond: number): () => "fine" | "refused" | "flood" {
  const rate = { intervalMs: 1000 / perSecond, burst: 2 * perSecond };
  let fullAt = Number.NEGATIVE_INFINITY;
  let refused = 0;
  return () => {
    const now = window.performance.now();
    // A quiet period resets the count of refusals.
    if (fullAt <= now) refused = 0;
    const taken = acquireToken(fullAt, now, rate);
    fullAt = taken.fullAt;
    if (taken.waitMs === 0) return "fine";
    return ++refused > 10 * perSecond ? "flood" : "refused";
  };
}
