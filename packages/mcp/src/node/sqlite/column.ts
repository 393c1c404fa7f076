import type { SqlValue } from "./node-sqlite.js";

/** A text as a column holds it: a blob where it has U+0000, because some Nodes cut such a text off when they read it. */
export function toColumn(text: string): SqlValue {
  return text.includes("\0") ? Buffer.from(text) : text;
}

/** The text that `toColumn` was given. */
export function fromColumn(value: SqlValue | undefined): string {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.length).toString() : "";
}

/** When a lifetime ends, as a column holds it. */
export function expiryTime(now: number, lifeMs: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(now + lifeMs));
}
