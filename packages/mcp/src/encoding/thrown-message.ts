/** Returns the thrown value. If reading the value throws, as with some proxies, returns a new error instead. */
export function readable(error: unknown): unknown {
  try {
    if (error instanceof Error || typeof error !== "object" || error === null) return error;
    Reflect.get(error, Symbol.toStringTag);
    return error;
  } catch {
    return new Error("an error that cannot be read");
  }
}

/** Returns the message of any thrown value. Handlers may throw strings, `undefined` or objects that cannot be read. */
export function thrownMessage(error: unknown): string {
  try {
    const message = typeof error === "string" ? error : (error as { message?: unknown } | null | undefined)?.message;
    if (typeof message === "string") return message || "an error without a message";
    const text = typeof error === "object" ? JSON.stringify(error) : String(error);
    return `${text.slice(0, 200)} was thrown, which is not an error`;
  } catch {
    return "an error that cannot be read";
  }
}

/** Returns the stack of a thrown value if it has one, otherwise its message. For the operator only. */
export function traceOf(error: unknown): string {
  try {
    if (error instanceof Error && typeof error.stack === "string") return error.stack;
  } catch {
    // A getter threw. The message may still be readable.
  }
  return thrownMessage(error);
}
