import { guarded, whenReady } from "../encoding/maybe-promise.js";
import type { Principal } from "../http/authentication.js";
import { callHook } from "../platform/call-hook.js";
import type { Platform, Timer } from "../platform/platform.js";

/** After a sleep of the machine a timer is late by that time; so none waits longer than this. */
const LOOK_EVERY_MS = 60_000;

/**
 * Calls `act` once when the credentials of a principal expire or are revoked, never before it has returned. Undefined if they
 * do neither.
 */
export function atExpiry(platform: Platform, principal: Principal | undefined, act: () => void): Timer | undefined {
  const { expiresAt = Number.POSITIVE_INFINITY, onRevoked } = principal ?? {};
  if (expiresAt === Number.POSITIVE_INFINITY && onRevoked === undefined) return undefined;
  let timer: Timer | undefined;
  let isOver = false;
  let isCancelled = false;
  let unwatch: (() => void) | undefined;
  const cancel = () => {
    isOver = true;
    isCancelled = true;
    timer?.cancel();
    const remove = unwatch;
    unwatch = undefined;
    if (remove !== undefined) callHook(platform, "onRevoked", () => remove());
  };
  const end = () => {
    cancel();
    act();
  };
  const look = () => {
    const left = expiresAt - platform.now();
    if (left <= 0) end();
    else arm(left);
  };
  const arm = (left: number) => {
    timer = platform.timer(Math.min(Math.max(left, 0), LOOK_EVERY_MS), look);
  };
  const revoked = () => {
    if (isOver) return;
    isOver = true;
    timer?.cancel();
    // The caller may still be opening what `act` closes.
    timer = platform.timer(0, end);
  };
  if (expiresAt !== Number.POSITIVE_INFINITY) arm(expiresAt - platform.now());
  // The type forbids a promise; programs without types may return one, and its function is used once it is there.
  const watch = () =>
    whenReady(principal?.onRevoked?.(revoked), (removal) => {
      unwatch = removal;
      if (isCancelled) cancel();
    });
  guarded(watch, (error) => {
    // Credentials whose revocation would go unnoticed keep nothing open.
    revoked();
    callHook(platform, "onRevoked", () => {
      throw error;
    });
  });
  return { cancel };
}
