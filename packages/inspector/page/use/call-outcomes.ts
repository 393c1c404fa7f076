import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { CallInfo, CallOutcome, CallRequest } from "../../src/contract/calls.js";
import type { ProblemInfo } from "../../src/contract/connections.js";
import { ActionFailed, act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { shownFailure } from "../parts/use-action.js";

/** Loads the outcome of a call. Empty while the call runs. */
export function useOutcome(call: CallInfo | undefined): {
  readonly outcome?: CallOutcome | undefined;
  readonly problem?: ProblemInfo | undefined;
} {
  const [state, setState] = useState<{ id?: string; outcome?: CallOutcome; problem?: ProblemInfo }>({});
  const id = call === undefined || call.status === "running" ? undefined : call.id;
  useEffect(() => {
    if (id === undefined) return;
    let current = true;
    act("outcome", { call: id }).then(
      (outcome) => current && setState({ id, outcome }),
      (reason: unknown) => current && setState({ id, problem: shownFailure(reason) }),
    );
    return () => {
      current = false;
    };
  }, [id]);
  return id !== undefined && state.id === id ? state : {};
}

/**
 * Starts a call and waits for its end. Rejects if the call cannot be started. An abort cancels the call and rejects.
 */
export async function callAndWait(connection: string, request: CallRequest, signal: AbortSignal): Promise<CallOutcome> {
  signal.throwIfAborted();
  const { call } = await act("call", { connection, request });
  await waitForEnd(call, signal);
  return act("outcome", { call });
}

function waitForEnd(call: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = false;
    const stop = effect(() => {
      const state = inspectorState.value;
      const info = state?.calls.find(({ id }) => id === call);
      seen ||= info !== undefined;
      // Only calls that have ended are removed from the state.
      if (info === undefined ? seen : info.status !== "running") finish(resolve);
    });
    const onAbort = () => {
      void act("cancelCall", { call }).catch(() => undefined);
      finish(() => reject(signal.reason));
    };
    // The effect may finish at once, before `stop` and `onAbort` are initialized. A microtask runs after their
    // initialization.
    function finish(then: () => void): void {
      queueMicrotask(() => {
        signal.removeEventListener("abort", onAbort);
        stop();
        then();
      });
    }
    signal.addEventListener("abort", onAbort);
  });
}

/** Returns the result of a call. Throws `ActionFailed` if the outcome has a problem. */
export function resultOf({ result, problem }: CallOutcome): Readonly<Record<string, unknown>> {
  if (problem !== undefined) throw new ActionFailed(problem);
  return result ?? {};
}
