import { neverUnhandled } from "../../encoding/maybe-promise.js";
import { McpError } from "../../protocol/error.js";
import type { ServerCall } from "../call/server-call.js";

/** The module that asks clients. */
export type AskingModule = typeof import("./asking.js");

/** The loaded module; undefined before the first question. */
export let loadedAsking: AskingModule | undefined;
let loading: Promise<AskingModule> | undefined;

/** Loads the module that asks clients. The first question loads it, because most servers never ask. */
export function loadAsking(): Promise<AskingModule> {
  loading ??= import("./asking.js").then((asking) => {
    loadedAsking = asking;
    return asking;
  });
  return loading;
}

/** Returns the loaded module, for functions that run only after a question. Throws before the first question. */
export function asking(): AskingModule {
  if (loadedAsking === undefined) throw new McpError("internal_error", "nothing has been asked yet");
  return loadedAsking;
}

/**
 * Calls `use` with the module: at once if the module is loaded, otherwise after loading it. Waiting calls run in order.
 * A rejection is never reported as unhandled, because a handler may drop the promise.
 */
export function withAsking<T>(use: (asking: AskingModule) => Promise<T>): Promise<T> {
  return neverUnhandled(loadedAsking === undefined ? loadAsking().then(use) : use(loadedAsking));
}

/** Like `withAsking`, for a question of a call. Rejects if the call ends before the module is loaded. */
export function askWith<T>(call: ServerCall, use: (asking: AskingModule) => Promise<T>): Promise<T> {
  if (loadedAsking !== undefined) return withAsking(use);
  let ended = false;
  call.root.whenAnswered(() => {
    ended = true;
  });
  return withAsking((asking) => {
    if (!ended) return use(asking);
    throw new McpError("cancelled", "the call ended without this answer");
  });
}
