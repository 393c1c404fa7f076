import { isThenable } from "../encoding/maybe-promise.js";
import { type Storage, StorageError, StorageFailure } from "../storage/storage.js";

/** Told of each failure: the method, and why. */
type Failed = (operation: string, reason: string) => void;

/** The same storage, whose failures are told. */
export function watchedStorage(storage: Storage, failed: Failed): Storage {
  return {
    kv: watched(storage.kv, "kv", failed),
    log: watched(storage.log, "log", failed),
    pubsub: watched(storage.pubsub, "pubsub", failed),
    ...(storage.close === undefined ? {} : { close: () => storage.close?.() }),
  };
}

function watched<P extends object>(part: P, name: string, failed: Failed): P {
  const wrapped = new Map<PropertyKey, unknown>();
  return new Proxy(part, {
    get(target, key) {
      const known = wrapped.get(key);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      const method = (...args: unknown[]) =>
        noting(
          () => Reflect.apply(member, target, args),
          (error) => failed(`${name}.${String(key)}`, reasonOf(error)),
        );
      wrapped.set(key, method);
      return method;
    },
  });
}

/** Runs a method and passes on what it gives, throws or rejects with. */
function noting(run: () => unknown, failed: (error: unknown) => void): unknown {
  try {
    const result = run();
    if (!isThenable(result)) return result;
    return Promise.resolve(result).catch((error) => {
      failed(error);
      throw error;
    });
  } catch (error) {
    failed(error);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StorageFailure) return error.reason;
  return error instanceof StorageError ? "full" : "other";
}
