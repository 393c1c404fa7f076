import { isThenable, type MaybePromise } from "../../../encoding/maybe-promise.js";
import { isObject } from "../../../jsonrpc/message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import { type KeyValue, StorageFailure } from "../../../storage/storage.js";

/** Milliseconds that the storage may take for one call about a task. */
export const STORAGE_MS = 10_000;

/** The same answer, or a rejection when it does not come in time. */
export function timely<T>(answer: MaybePromise<T>, platform: Platform, ms = STORAGE_MS): MaybePromise<T> {
  if (!isThenable(answer)) return answer;
  return new Promise<T>((resolve, reject) => {
    const late = () => {
      reject(awayFor(`the storage of tasks did not answer within ${ms} ms`));
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

/** When a request that the storage failed may be sent again. */
const RETRY_MS = 1000;
/** The `data.reason` of such an error. */
const AWAY = "storage_unavailable";

/** Whether the storage could not be reached, or did not answer in time. */
export function isStorageAway(error: unknown): boolean {
  if (error instanceof StorageFailure) return error.reason === "unavailable" || error.reason === "timeout";
  return McpError.is(error) && isObject(error.data) && error.data["reason"] === AWAY;
}

/**
 * The error of a request about a task that failed because the storage was away: clients wait for `data.retryAfterMs` and repeat the
 * request. Other errors are returned as they are.
 */
export function asStorageAway(error: unknown): unknown {
  if (!(error instanceof StorageFailure && isStorageAway(error))) return error;
  return awayFor("the storage of tasks cannot be reached", error);
}

function awayFor(message: string, cause?: unknown): McpError {
  return new McpError("internal_error", message, {
    data: { reason: AWAY, retryAfterMs: RETRY_MS },
    fix: "Try again after `data.retryAfterMs`; the task goes on meanwhile.",
    cause,
  });
}
