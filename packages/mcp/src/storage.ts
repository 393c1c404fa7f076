export { type MemoryStorage, type MemoryStorageOptions, memoryStorage } from "./storage/memory.js";
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
  Unsubscribe,
  Versioned,
} from "./storage/storage.js";
export { StorageError } from "./storage/storage.js";
