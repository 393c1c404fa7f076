import { guarded, whenReady } from "../encoding/maybe-promise.js";
import type { Principal } from "../http/authentication.js";
import { callHook } from "../platform/call-hook.js";
import type { Platform, Timer } from "../platform/platform.js";

/**
 * Maximum duration of one timer, in milliseconds. Timers may pause while the machine sleeps. After the machine wakes,
 * an expiry is noticed within this time.
 */
const MAX_WAIT_MS = 60_000;

/**
 * Calls `act` once when the credentials of a principal expire or are revoked, but never before this function has
 * returned. Returns undefined if the credentials can neither expire nor be revoked.
 */
export function atExpiry(platform: Platform, principal: Principal | undefined, act: () => void): Timer | undefined {
  const { expiresAt = Number.POSITIVE_INFINITY, onRevoked } = principal ?? {};
  if (expiresAt === Number.POSITIVE_INFINITY && onRevoked === undefined) return undefined;
  let timer: Timer | undefined;
  let hasEnded = false;
  let isCancelled = false;
  let unwatch: (() => void) | undefined;
  const cancel = () => {
    hasEnded = true;
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
  const check = () => {
    const left = expiresAt - platform.now();
    if (left <= 0) end();
    else arm(left);
  };
  const arm = (left: number) => {
    timer = platform.timer(Math.min(Math.max(left, 0), MAX_WAIT_MS), check);
  };
  const revoked = () => {
    if (hasEnded) return;
    hasEnded = true;
    timer?.cancel();
    // Deferred, because the caller may still be opening the connection that `act` closes.
    timer = platform.timer(0, end);
  };
  if (expiresAt !== Number.POSITIVE_INFINITY) arm(expiresAt - platform.now());
  // The type forbids a promise, but programs without types may return one. Its value is then used when it resolves.
  const watch = () =>
    whenReady(principal?.onRevoked?.(revoked), (removal) => {
      unwatch = removal;
      if (isCancelled) cancel();
    });
  guarded(watch, (error) => {
    // Fail closed: if the registration failed, a revocation would go unnoticed, so the credentials count as revoked.
    revoked();
    callHook(platform, "onRevoked", () => {
      throw error;
    });
  });
  return { cancel };
}
