export { type ChangedField, compareLock, type LockDifference } from "./lock/compare-lock.js";
export type { OnDrift } from "./lock/drift-policy.js";
export { driftText, visibleText } from "./lock/drift-text.js";
export { type EnforcedLock, type EnforceLockOptions, enforceLock } from "./lock/enforce-lock.js";
export { readLock, writeLock } from "./lock/lock-file.js";
export { type LockableClient, lockOf } from "./lock/lock-of.js";
export type { LockFile, PinnedItem, PinnedKind, ServerLock } from "./lock/server-lock.js";
