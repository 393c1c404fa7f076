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

/**
 * Creates a storage in the memory of this process. Its content is lost when the process ends.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/testing.md | Testing}
 */
export function memoryStorage(options: Some<MemoryStorageOptions> = {}): MemoryStorage {
  checkOptions("memoryStorage", options, "clock limits onDeliverError");
  checkOptions("`limits`", options.limits, "maxKeys maxStreams maxSubscriptions maxBytes");
  return createMemoryStorage({ ...options, clock: options.clock ?? platform });
}
