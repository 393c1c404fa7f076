import { neverUnhandled } from "../../encoding/never-unhandled.js";
import { McpError } from "../../protocol/error.js";
import type { ServerCall } from "../call/server-call.js";

/** The part of the library that asks clients. */
export type Asking = typeof import("./asking.js");

let loaded: Asking | undefined;
let loading: Promise<Asking> | undefined;

/** Loads what asks clients. Most servers never ask, and those that do need it for their first question only. */
export function loadAsking(): Promise<Asking> {
  loading ??= import("./asking.js").then((asking) => {
    loaded = asking;
    return asking;
  });
  return loading;
}

/** The same, for what runs only after somebody asked. */
export function asking(): Asking {
  if (loaded === undefined) throw new McpError("internal_error", "nothing has been asked yet");
  return loaded;
}

/**
 * Does something with what asks clients: at once, or as soon as it is loaded. What waits keeps its order. The promise's
 * rejection is never reported as unhandled: whoever asked may drop it.
 */
export function withAsking<T>(use: (asking: Asking) => Promise<T>): Promise<T> {
  return neverUnhandled(loaded === undefined ? loadAsking().then(use) : use(loaded));
}

/** The same for a question of a call; one that ended meanwhile asks nothing any more. */
export function askWith<T>(call: ServerCall, use: (asking: Asking) => Promise<T>): Promise<T> {
  if (loaded !== undefined) return withAsking(use);
  let ended = false;
  call.root.whenAnswered(() => {
    ended = true;
  });
  return withAsking((asking) => {
    if (!ended) return use(asking);
    throw new McpError("cancelled", "the call ended without this answer");
  });
}
