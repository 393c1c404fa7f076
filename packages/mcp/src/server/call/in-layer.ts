import { isThenable } from "../../encoding/maybe-promise.js";
import { callHook } from "../../platform/call-hook.js";
import type { CallLayer } from "../contract/observer.js";
import type { ServerCall } from "./server-call.js";

/**
 * Runs a part of a call and reports its start and end to the followers of the call. Costs one comparison if there are
 * no followers.
 */
export function inLayer<T>(call: ServerCall, layer: CallLayer, run: () => T, name?: string): T {
  const { followers } = call;
  if (followers === undefined) return run();
  const { platform } = call.config;
  const ends: (() => void)[] = [];
  for (const follower of followers) {
    callHook(platform, "layer", () => {
      const end = follower.layer?.(layer, name);
      if (typeof end === "function") ends.push(end);
      return end;
    });
  }
  if (ends.length === 0) return run();
  const leave = () => {
    for (const end of ends) callHook(platform, "layer", end);
  };
  let made: T;
  try {
    made = run();
  } catch (error) {
    leave();
    throw error;
  }
  if (!isThenable(made)) {
    leave();
    return made;
  }
  // Safe: `then` returns a promise of the same value.
  return made.then(
    (value) => {
      leave();
      return value;
    },
    (error: unknown) => {
      leave();
      throw error;
    },
  ) as T;
}
