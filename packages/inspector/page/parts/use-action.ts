import { useEffect, useRef, useState } from "preact/hooks";
import type { ShownProblem } from "../../src/contract/connections.js";
import { ActionFailed } from "../backend/act.js";

/** What a failure says to the user. */
export function shownFailure(reason: unknown): ShownProblem {
  if (reason instanceof ActionFailed) return reason.problem;
  return { message: reason instanceof Error ? reason.message : String(reason) };
}

/** Work that a control starts: whether it is under way, and what went wrong the last time. */
export interface RunningAction {
  readonly busy: boolean;
  readonly problem: ShownProblem | undefined;
  /** Starts the work; one that is still under way goes on, but is no longer shown. */
  run(work: () => Promise<unknown>): void;
}

/** Keeps the state of what a control does. */
export function useAction(): RunningAction {
  const [state, setState] = useState<{ busy: boolean; problem?: ShownProblem | undefined }>({ busy: false });
  const latest = useRef(0);
  useEffect(
    () => () => {
      latest.current = -1;
    },
    [],
  );
  const run = (work: () => Promise<unknown>) => {
    latest.current += 1;
    const mine = latest.current;
    const end = (problem?: ShownProblem) => {
      if (latest.current === mine) setState({ busy: false, problem });
    };
    setState({ busy: true });
    work().then(
      () => end(),
      (reason: unknown) => end(shownFailure(reason)),
    );
  };
  return { busy: state.busy, problem: state.problem, run };
}
