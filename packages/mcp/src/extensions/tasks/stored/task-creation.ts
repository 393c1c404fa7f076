import { neverUnhandled } from "../../../encoding/never-unhandled.js";
import type { BegunRun } from "../task-asker.js";
import type { TaskCall } from "../task-call.js";
import type { TaskRun } from "../task-run.js";

/** The one time that a task is stored, whoever needs it first. */
export class Creation {
  /** Resolves with nothing when the task is stored. */
  readonly done: Promise<undefined>;
  readonly #create: (recorded: BegunRun) => Promise<void>;
  #isDone = () => {};
  #creating: Promise<void> | undefined;

  constructor(create: (recorded: BegunRun) => Promise<void>) {
    this.#create = create;
    this.done = new Promise((resolve) => {
      this.#isDone = () => resolve(undefined);
    });
  }

  begin(recorded: BegunRun): Promise<void> {
    this.#creating ??= this.#create(recorded).then(this.#isDone);
    return this.#creating;
  }

  /** Whether it was begun, and went well. */
  get succeeds(): Promise<boolean> {
    return Promise.resolve(this.#creating).then(
      () => this.#creating !== undefined,
      () => false,
    );
  }
}

/** Lets the handler make its call a task, which goes on with what the call has asked and done so far. */
export function startLate(prepared: TaskCall, run: TaskRun, creation: Creation): void {
  let started: Promise<boolean> | undefined;
  prepared.onStart(() => {
    started ??= (async () => {
      const { answers = {}, steps = {}, ...same } = (await prepared.recorded()) ?? {};
      const given = Object.entries(answers).map(([name, value]) => [name, { value }] as const);
      const recorded = { answers: Object.fromEntries(given), steps, ...same };
      run.create = () => creation.begin({ answers: recorded.answers, steps });
      run.prepare(prepared, recorded);
      await run.create();
      return true;
    })();
    return neverUnhandled(started);
  });
}
