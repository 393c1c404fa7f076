import { McpError } from "@parley/mcp/protocol";
import type { RunInfo } from "../contract/sessions.js";
import { OneAtATime } from "../engine/one-at-a-time.js";

/**
 * Maximum length of a call's description, in characters. Longer descriptions are truncated, because the description is
 * part of the state.
 */
const MAX_ABOUT_LENGTH = 200;

/** The handle that the work of a run receives. */
export interface CancellableRun {
  /** Aborted when the user cancels the run. */
  readonly signal: AbortSignal;
  /** Reports the call that the run makes next. */
  begin(next: Pick<RunInfo, "call" | "calls" | "about">): void;
}

interface ActiveRun {
  info: RunInfo;
  readonly controller: AbortController;
}

/**
 * The running replays and comparisons. At most one of each kind runs at a time, because each calls tools. The user can
 * see and cancel the runs.
 */
export class CancellableRuns {
  readonly #changed: () => void;
  readonly #turns = { replay: new OneAtATime("another replay"), comparison: new OneAtATime("another comparison") };
  readonly #runs = new Set<ActiveRun>();
  #last = 0;

  /** `changed` is called after every change of `list()`. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Runs the work and returns its result. Rejects with `limit_exceeded` while another run of this kind is active. */
  run<T>(kind: RunInfo["kind"], connection: string, work: (run: CancellableRun) => Promise<T>): Promise<T> {
    return this.#turns[kind].run(() => this.#run(kind, connection, work));
  }

  /** Cancels a run. Ignores an unknown id, because the run may have ended in the meantime. */
  cancel(id: string): void {
    const run = [...this.#runs].find(({ info }) => info.id === id);
    run?.controller.abort(new McpError("cancelled", `the user cancelled the ${run.info.kind}`));
  }

  /** Returns the active runs. */
  list(): readonly RunInfo[] {
    return [...this.#runs].map(({ info }) => info);
  }

  async #run<T>(kind: RunInfo["kind"], connection: string, work: (run: CancellableRun) => Promise<T>): Promise<T> {
    const info: RunInfo = { id: `run-${++this.#last}`, kind, connection, call: 0, calls: 0, about: "" };
    const run: ActiveRun = { info, controller: new AbortController() };
    const begin: CancellableRun["begin"] = ({ call, calls, about }) => {
      run.info = { ...info, call, calls, about: about.slice(0, MAX_ABOUT_LENGTH) };
      this.#changed();
    };
    this.#runs.add(run);
    this.#changed();
    try {
      return await work({ signal: run.controller.signal, begin });
    } finally {
      this.#runs.delete(run);
      this.#changed();
    }
  }
}
