import { platform } from "#platform";
import type { Some } from "./encoding/with-defaults.js";
import { checkOptions } from "./protocol/check-options.js";
import { createMemoryStorage, type MemoryStorage, type MemoryStorageOptions } from "./storage/memory.js";

export type { MemoryStorage, MemoryStorageOptions } from "./storage/memory.js";
export type {
  AppendLog,
  DeleteOptions,
  KeyValue,
  LogEntry,
  LogLimits,
  LogRead,
  PubSub,
  SetOptions,
  Storage,
  StorageFailureReason,
  Unsubscribe,
  Versioned,
} from "./storage/storage.js";
export { StorageError, StorageFailure } from "./storage/storage.js";

/** Makes a storage that lives and dies with this process, on the runtime's own clock unless another one is given. */
export function memoryStorage(options: Some<MemoryStorageOptions> = {}): MemoryStorage {
  checkOptions("memoryStorage", options, "clock limits onDeliverError");
  checkOptions("`limits`", options.limits, "maxKeys maxStreams maxSubscriptions maxBytes");
  return createMemoryStorage({ ...options, clock: options.clock ?? platform });
}
