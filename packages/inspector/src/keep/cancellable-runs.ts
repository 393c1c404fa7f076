import { McpError } from "@parley/mcp/protocol";
import type { RunInfo } from "../contract/keep.js";
import { OneAtATime } from "../engine/one-at-a-time.js";

/** Characters of the words for a call; they are part of the state. */
const MOST_ABOUT = 200;

/** What the work of a run is given. */
export interface CancellableRun {
  /** Aborted when the user cancels. */
  readonly signal: AbortSignal;
  /** Tells which call comes next. */
  begin(next: Pick<RunInfo, "call" | "calls" | "about">): void;
}

interface RunUnderWay {
  info: RunInfo;
  readonly ending: AbortController;
}

/** Replays and comparisons that are under way: one of each kind at a time, because they run tools. The user sees and cancels them. */
export class CancellableRuns {
  readonly #changed: () => void;
  readonly #turns = { replay: new OneAtATime("another replay"), comparison: new OneAtATime("another comparison") };
  readonly #runs = new Set<RunUnderWay>();
  #last = 0;

  /** `changed` is called after every change of `list()`. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Does the work, and gives what it gives. Rejects with `limit_exceeded` while another of its kind is under way. */
  run<T>(kind: RunInfo["kind"], connection: string, work: (run: CancellableRun) => Promise<T>): Promise<T> {
    return this.#turns[kind].run(() => this.#run(kind, connection, work));
  }

  /** Cancels a run. Nothing happens to one that has ended: it may have done so while the user decided. */
  cancel(id: string): void {
    const run = [...this.#runs].find(({ info }) => info.id === id);
    run?.ending.abort(new McpError("cancelled", `the user cancelled the ${run.info.kind}`));
  }

  /** Those that are under way. */
  list(): readonly RunInfo[] {
    return [...this.#runs].map(({ info }) => info);
  }

  async #run<T>(kind: RunInfo["kind"], connection: string, work: (run: CancellableRun) => Promise<T>): Promise<T> {
    const info: RunInfo = { id: `run-${++this.#last}`, kind, connection, call: 0, calls: 0, about: "" };
    const run: RunUnderWay = { info, ending: new AbortController() };
    const begin: CancellableRun["begin"] = ({ call, calls, about }) => {
      run.info = { ...info, call, calls, about: about.slice(0, MOST_ABOUT) };
      this.#changed();
    };
    this.#runs.add(run);
    this.#changed();
    try {
      return await work({ signal: run.ending.signal, begin });
    } finally {
      this.#runs.delete(run);
      this.#changed();
    }
  }
}
