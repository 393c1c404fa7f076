import { isThenable } from "../encoding/maybe-promise.js";
import type { CancelRequest, Sender } from "./http.js";

/**
 * A sender that the application wrote, held to its contract: what it throws, or what a promise in place of its result is
 * rejected with, is the error of the request.
 */
export function guardedSender(sender: Sender): Sender {
  // Somebody who writes it as an async function has made a promise before anything is sent.
  if (isThenable(sender)) sender.then(undefined, () => {});
  return (request, onResponse, onError) => {
    let cancel: unknown;
    try {
      cancel = isThenable(sender) ? sender : sender(request, onResponse, onError);
    } catch (error) {
      onError(error);
    }
    if (isThenable(cancel)) cancel.then(undefined, onError);
    // Safe: a sender returns nothing else that can be called.
    return typeof cancel === "function" ? (cancel as CancelRequest) : onError;
  };
}
