import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { CallInfo, CallOutcome, CallRequest } from "../../src/contract/calls.js";
import type { ShownProblem } from "../../src/contract/connections.js";
import { ActionFailed, act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { shownFailure } from "../parts/use-action.js";

/** How a call ended; nothing while it runs. */
export function useOutcome(call: CallInfo | undefined): {
  readonly outcome?: CallOutcome | undefined;
  readonly problem?: ShownProblem | undefined;
} {
  const [state, setState] = useState<{ id?: string; outcome?: CallOutcome; problem?: ShownProblem }>({});
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

/** Starts a call and waits for its end. Rejects where it cannot be started, and when the signal aborts, which cancels the call. */
export async function callToItsEnd(
  connection: string,
  request: CallRequest,
  signal: AbortSignal,
): Promise<CallOutcome> {
  signal.throwIfAborted();
  const { call } = await act("call", { connection, request });
  await ended(call, signal);
  return act("outcome", { call });
}

function ended(call: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = false;
    const stop = effect(() => {
      const state = inspectorState.value;
      const info = state?.calls.find(({ id }) => id === call);
      seen ||= info !== undefined;
      // A call that was seen and is no longer told of has ended long ago.
      if (info === undefined ? seen : info.status !== "running") finish(resolve);
    });
    const onAbort = () => {
      void act("cancelCall", { call }).catch(() => undefined);
      finish(() => reject(signal.reason));
    };
    // The effect may end at once, before `stop` and `onAbort` are known.
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

/** The result of an outcome. Throws what went wrong instead. */
export function resultOf({ result, problem }: CallOutcome): Readonly<Record<string, unknown>> {
  if (problem !== undefined) throw new ActionFailed(problem);
  return result ?? {};
}
