import { McpError } from "../../protocol/error.js";

/** What a call came to, as a value: its result, or the error that it failed with. */
export type Tried<T> = { ok: true; value: T } | { ok: false; error: McpError };

/** The outcome of a call as a value; never rejects. */
export function tried<T>(call: () => Promise<T>): Promise<Tried<T>> {
  return new Promise<T>((resolve) => resolve(call())).then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error: McpError.from(error) }),
  );
}
