import type { Principal } from "../http/authentication.js";
import type { Platform, Timer } from "../platform/platform.js";

/** After a sleep of the machine a timer is late by that time; so none waits longer than this. */
const LOOK_EVERY_MS = 60_000;

/** Calls `act` once when the credentials of a principal expire. Undefined if they do not. */
export function atExpiry(platform: Platform, principal: Principal | undefined, act: () => void): Timer | undefined {
  const expiresAt = principal?.expiresAt;
  if (expiresAt === undefined) return undefined;
  let timer: Timer;
  const look = () => {
    const left = expiresAt - platform.now();
    if (left <= 0) act();
    else arm(left);
  };
  const arm = (left: number) => {
    timer = platform.timer(Math.min(Math.max(left, 0), LOOK_EVERY_MS), look);
  };
  arm(expiresAt - platform.now());
  return { cancel: () => timer.cancel() };
}
