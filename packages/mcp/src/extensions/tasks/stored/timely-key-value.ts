import { isThenable, type MaybePromise } from "../../../encoding/maybe-promise.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import type { KeyValue } from "../../../storage/storage.js";

/** Milliseconds that the storage may take for one call about a task. */
export const STORAGE_MS = 10_000;

/** The same answer, or a rejection when it does not come in time. */
export function timely<T>(answer: MaybePromise<T>, platform: Platform, ms = STORAGE_MS): MaybePromise<T> {
  if (!isThenable(answer)) return answer;
  return new Promise<T>((resolve, reject) => {
    const late = () => {
      reject(new McpError("internal_error", `the storage did not answer within ${ms} ms`, { fix: "Try again later." }));
    };
    const timer = platform.timer(ms, late);
    Promise.resolve(answer)
      .finally(() => timer.cancel())
      .then(resolve, reject);
  });
}

/** The same store, whose calls fail when they are not answered in time: a task must not wait for a store that hangs. */
export function timelyKeyValue(kv: KeyValue, platform: Platform, ms = STORAGE_MS): KeyValue {
  return {
    get: (key) => timely(kv.get(key), platform, ms),
    set: (key, value, options) => timely(kv.set(key, value, options), platform, ms),
    delete: (key, options) => timely(kv.delete(key, options), platform, ms),
    touch: (key, ttlMs) => timely(kv.touch(key, ttlMs), platform, ms),
  };
}
