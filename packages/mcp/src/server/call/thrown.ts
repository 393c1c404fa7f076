/** The thrown value itself, or an error in its place when even looking at it throws: a handler may throw a proxy. */
export function readable(error: unknown): unknown {
  try {
    if (error instanceof Error || typeof error !== "object" || error === null) return error;
    Reflect.get(error, Symbol.toStringTag);
    return error;
  } catch {
    return new Error("an error that cannot be read");
  }
}

/** What a thrown value says, whatever it is: handlers may throw strings, nothing at all, or objects that cannot be read. */
export function messageOf(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : error;
    return typeof message === "string" ? message : String(message);
  } catch {
    return "an error that cannot be read";
  }
}

/** The same with all that the program's operator may see. */
export function traceOf(error: unknown): string {
  try {
    if (error instanceof Error && typeof error.stack === "string") return error.stack;
  } catch {
    // A getter that throws: its message may still be readable.
  }
  return messageOf(error);
}
