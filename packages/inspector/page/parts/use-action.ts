import { useEffect, useRef, useState } from "preact/hooks";
import type { ProblemInfo } from "../../src/contract/connections.js";
import { ActionFailed } from "../backend/act.js";

/** Converts a rejection to a problem that the page can show. */
export function shownFailure(reason: unknown): ProblemInfo {
  if (reason instanceof ActionFailed) return reason.problem;
  return { message: reason instanceof Error ? reason.message : String(reason) };
}

/** An action started by a control, with the problem of its last run. */
export interface RunningAction {
  readonly busy: boolean;
  readonly problem: ProblemInfo | undefined;
  /** Starts the work. An earlier run continues, but its outcome is ignored. */
  run(work: () => Promise<unknown>): void;
}

/** Tracks the action of a control. */
export function useAction(): RunningAction {
  const [state, setState] = useState<{ busy: boolean; problem?: ProblemInfo | undefined }>({ busy: false });
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
    const end = (problem?: ProblemInfo) => {
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
