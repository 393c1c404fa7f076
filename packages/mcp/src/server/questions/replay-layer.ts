import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { inLayer } from "../call/in-layer.js";
import type { Layer } from "../call/layers.js";
import type { Interruption, MethodHandler, ServerCall } from "../call/server-call.js";
import { isUrlRequired } from "../call/url-required.js";
import { loadedAsking, withAsking } from "./with-asking.js";

/**
 * The layer around every handler. In revisions that send questions in an interim result, it runs the handler with
 * replay. Calls to mounted servers are replayed with the call that they are part of.
 *
 * Spec: Multi Round-Trip Requests, https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export const replayLayer: Layer = {
  name: "replay",
  stage: "replayed",
  around(call, next) {
    if (call.outer !== undefined) return next(call);
    if (call.followers === undefined) return replay(call, next);
    return inLayer(call, "handler", () => replay(call, next), call.row.method);
  },
};

function replay(call: ServerCall, run: MethodHandler): MaybePromise<object> {
  if (call.row.mayAsk !== true || !call.replays) return run(call);
  if (call.request.inputs === undefined) return interruptible(call, run);
  const opened =
    loadedAsking === undefined ? withAsking(({ openReplay }) => openReplay(call)) : loadedAsking.openReplay(call);
  return opened.then(() => interruptible(call, run));
}

/** Returns the handler's outcome, or the interim result if one of its questions has no answer yet. */
function interruptible(call: ServerCall, run: MethodHandler): MaybePromise<object> {
  const started = start(call, run);
  if (!isThenable(started)) return started;
  const handler = Promise.resolve(started);
  return new Promise((resolve, reject) => {
    const interruption: Interruption = { handler, interrupted: false, interim: undefined, resolve, reject };
    if (call.questions === undefined) call.questions = { interruption };
    else call.questions.interruption = interruption;
    const failed = (error: unknown) => {
      if (interruption.interrupted) return;
      // A page that the user must visit first becomes a question like any other.
      if (!isUrlRequired(error)) return reject(error);
      withAsking(({ askForVisits }) => askForVisits(call, error)).catch(
        (refused) => interruption.interrupted || reject(refused),
      );
    };
    handler.then((result) => interruption.interrupted || resolve(result), failed);
  });
}

/**
 * Calls the handler. An error that becomes a question is returned as a rejection, also if the handler threw it
 * synchronously, so that there is one way to handle it.
 */
function start(call: ServerCall, run: MethodHandler): MaybePromise<object> {
  try {
    return run(call);
  } catch (error) {
    if (isUrlRequired(error)) return Promise.reject(error);
    throw error;
  }
}
