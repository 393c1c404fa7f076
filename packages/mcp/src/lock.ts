export { type ChangedField, compareLock, driftText, type LockDifference, visibleText } from "./lock/compare-lock.js";
export type { OnDrift } from "./lock/drift-policy.js";
export { readLock, writeLock } from "./lock/lock-file.js";
export { type EnforcedLock, type EnforceLockOptions, enforceLock } from "./lock/lock-guard.js";
export type { LockFile, PinnedItem, PinnedKind, ServerLock } from "./lock/server-lock.js";
export { type LockableClient, lockOf } from "./lock/server-lock.js";
