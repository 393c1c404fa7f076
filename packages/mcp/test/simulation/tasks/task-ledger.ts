import { isDeepStrictEqual } from "node:util";
import type { TaskRecord } from "../../../src/extensions/tasks/stored/task-record.js";
import type { Storage } from "../../../src/storage/storage.js";
import type { SimProcess } from "../sim-process.js";
import type { World } from "../world.js";

/** What one handler was called with. */
export interface TaskWork {
  nonce: string;
  parts: number;
  gap: number;
}

/** One run of the handler of a task. */
export interface TaskExecution {
  readonly id: string;
  readonly process: SimProcess;
  readonly signal: AbortSignal;
  finished: boolean;
}

/** What is known of one task from the first time that it was stored. */
interface KnownTask {
  readonly id: string;
  readonly owner: string;
  readonly tool: string;
  readonly nonce: string;
  readonly createdAt: number;
  readonly endsBy: number;
  record: TaskRecord;
  over: TaskRecord | undefined;
  /** Tokens and retries that runs were given. */
  retries: number;
  readonly asked: Set<string>;
  readonly steps: Map<string, number>;
  /** The answers that runs of the handler got, by question. */
  readonly used: Map<string, string>;
  runs: number;
}

export const TASK_KEYS = "server/simulated/task";
const RECORDS = `${TASK_KEYS}s/`;
/** What some applications answer although they were not asked just now. */
export const SECOND_ANSWER = "second";
/** How often a tool may run again, by its name. */
export const RETRIES: Readonly<Record<string, number>> = { retrying: 2 };

/** What is stored of tasks, what runs for them, and the rules that hold between the two. */
export class TaskLedger {
  readonly tasks = new Map<string, KnownTask>();
  /** Words that clients gave as answers, by question. */
  readonly given = new Map<string, Set<string>>();
  /** Tasks, or the work of calls, that their clients wanted cancelled. */
  readonly unwanted = new Set<string>();
  readonly keys = new Set<string>();
  /** Tasks whose ids their clients were given, and those that were cancelled because the call was given up before. */
  readonly #begun = new Set<string>();
  readonly #unseen = new Set<string>();
  executions = 0;
  #storage: Storage | undefined;
  readonly #world: World;
  readonly #runs = new Set<TaskExecution>();
  readonly #noticeMs: number;

  /** `noticeMs`: how long the end of a task may take to reach what runs for it. */
  constructor(world: World, noticeMs: number) {
    this.#world = world;
    this.#noticeMs = noticeMs;
  }

  /** The storage as it was, with a look at each value of a task as it is written. */
  watch(storage: Storage): Storage {
    this.#storage = storage;
    const { kv } = storage;
    return {
      ...storage,
      kv: {
        get: (key) => kv.get(key),
        set: (key, value, options) => {
          const version = kv.set(key, value, options);
          if (version !== undefined && key.startsWith(TASK_KEYS)) this.#written(key, value);
          return version;
        },
        delete: (key, options) => kv.delete(key, options),
        touch: (key, ttlMs) => kv.touch(key, ttlMs),
      },
    };
  }

  /** What is stored now; undefined once it has expired. */
  stored(id: string): TaskRecord | undefined {
    const found = this.#storage?.kv.get(RECORDS + id) as { value: string } | undefined;
    return found === undefined ? undefined : (JSON.parse(found.value) as TaskRecord);
  }

  #written(key: string, value: string): void {
    this.keys.add(key);
    if (value.includes("carrier")) this.#world.violate("T9", `${key} has claims: ${value}`);
    if (!key.startsWith(RECORDS)) return;
    const record = JSON.parse(value) as TaskRecord;
    const known = this.tasks.get(record.id);
    if (known === undefined) this.#created(record);
    else this.#changed(known, record);
  }

  #created(record: TaskRecord): void {
    const { id, owner, createdAt, ttlMs, call, questions } = record;
    this.tasks.set(id, {
      id,
      owner: owner ?? "nobody",
      tool: String(call?.params["name"]),
      nonce: String((call?.params["arguments"] as { nonce?: string } | undefined)?.nonce),
      createdAt,
      endsBy: createdAt + ttlMs,
      record,
      over: isOver(record) ? record : undefined,
      retries: 0,
      asked: new Set(Object.keys(questions)),
      steps: new Map(),
      used: new Map(),
      runs: 0,
    });
    this.#world.note(`task of ${owner} is stored`);
  }

  #changed(known: KnownTask, record: TaskRecord): void {
    const { record: before } = known;
    const world = this.#world;
    const name = `the task ${known.tool} of ${known.owner}`;
    if (known.over !== undefined) {
      const { status, outcome } = known.over;
      if (record.status !== status || !isDeepStrictEqual(record.outcome, outcome)) {
        world.violate("T1", `${name} was ${status} and became ${record.status}`);
      }
    }
    if (record.lease.token < before.lease.token) world.violate("T2", `${name} went back to an earlier lease`);
    if (record.retry < before.retry) known.retries++;
    for (const asked of Object.keys(record.questions)) known.asked.add(asked);
    known.record = record;
    if (isOver(record)) {
      if (known.over === undefined) world.note(`${name} is ${record.status} (${record.statusMessage})`);
      if (record.status === "cancelled" && !this.#mayBeCancelled(known, record)) {
        world.violate("T1", `${name} was cancelled, and nobody wanted that`);
      }
      known.over ??= record;
    } else if (known.over === undefined) this.#compare(known, before, record, name);
    if (isOver(record) || record.lease.token !== before.lease.token) this.#expectNotice(known.id);
  }

  /** By its client, or because the call was given up, by itself or its connection, before the client could learn of its task. */
  #mayBeCancelled({ id, nonce }: KnownTask, { statusMessage }: TaskRecord): boolean {
    if (this.unwanted.has(id) || this.unwanted.has(nonce)) return true;
    if (statusMessage !== "the client cancelled the call" || this.#begun.has(id)) return false;
    this.#unseen.add(id);
    return true;
  }

  /** T1: a client was given this task as its own, which must not have been cancelled as one that no client knows. */
  begun(client: string, id: string, status: string): void {
    this.#begun.add(id);
    if (this.#unseen.has(id)) this.#world.violate("T1", `${client} was given a task that was cancelled as unseen`);
    this.shown(client, id, status);
  }

  /** T2, T5: what a run has stored stays. */
  #compare({ asked }: KnownTask, before: TaskRecord, record: TaskRecord, name: string): void {
    for (const [key, step] of Object.entries(before.steps)) {
      if (!("begun" in step) && !isDeepStrictEqual(record.steps[key], step)) {
        this.#world.violate("T2", `the outcome of step ${key} of ${name} was changed`);
      }
    }
    for (const [key, answer] of Object.entries(before.answers)) {
      if (!isDeepStrictEqual(record.answers[key], answer)) {
        this.#world.violate("T5", `an answer of ${name} was changed`);
      }
    }
    for (const key of Object.keys(record.answers)) {
      if (!asked.has(key)) this.#world.violate("T5", `${name} has an answer to what it never asked`);
    }
  }

  /** T2: each run has a lease of its own. */
  begin(id: string, principal: string, process: SimProcess, signal: AbortSignal): TaskExecution {
    const known = this.tasks.get(id);
    const run: TaskExecution = { id, process, signal, finished: false };
    this.executions++;
    if (known === undefined) {
      this.#world.violate("T10", `a task of ${principal} runs and is not stored`);
      return run;
    }
    known.runs++;
    this.#world.note(`run ${known.runs} of ${known.tool} of ${known.owner}`);
    if (known.owner !== principal) this.#world.violate("T3", `a task of ${known.owner} runs as one of ${principal}`);
    if (known.runs > known.record.lease.token) {
      this.#world.violate(
        "T2",
        `${known.tool} of ${principal} runs ${known.runs} times with ${known.record.lease.token} leases`,
      );
    }
    if (known.runs > 1 && known.retries === 0 && known.steps.size === 0 && known.asked.size === 0) {
      this.#world.violate("T2", `${known.tool} of ${principal} began again without a step, and without leave`);
    }
    this.#runs.add(run);
    return run;
  }

  finish(run: TaskExecution): void {
    run.finished = true;
    this.#runs.delete(run);
  }

  /** T2: a step is stored before it is done, and done once unless the tool may begin it again. */
  step({ id }: TaskExecution, key: string): void {
    const known = this.tasks.get(id);
    if (known === undefined) return;
    const count = (known.steps.get(key) ?? 0) + 1;
    known.steps.set(key, count);
    const allowed = 1 + (RETRIES[known.tool] ?? 0);
    const name = `step ${key} of ${known.tool} of ${known.owner}`;
    if (count > allowed || count > 1 + known.retries) this.#world.violate("T2", `${name} is done ${count} times`);
    const stored = this.stored(id);
    if (stored === undefined || isOver(stored) || allowed > 1) return;
    const step = stored.steps[key];
    if (step === undefined) this.#world.violate("T2", `${name} is done before that is stored`);
    else if (!("begun" in step)) this.#world.violate("T2", `${name} is done again`);
  }

  /** T5: a client gave this answer, and every run gets the same. */
  answered({ id }: TaskExecution, question: string, word: string): void {
    const known = this.tasks.get(id);
    if (this.given.get(question)?.has(word) !== true && word !== SECOND_ANSWER) {
      this.#world.violate("T5", `"${question}" was answered with "${word}", which nobody said`);
    }
    const before = known?.used.get(question);
    if (before !== undefined && before !== word) {
      this.#world.violate("T5", `"${question}" was answered with "${before}", and then with "${word}"`);
    }
    known?.used.set(question, word);
  }

  /** T11: runs that lost their task hear of it, unless their process stands still. */
  #expectNotice(id: string): void {
    const from = this.#world.now();
    const ran = [...this.#runs].filter((run) => run.id === id);
    if (ran.length === 0) return;
    const token = this.stored(id)?.lease.token;
    this.#world.after(this.#noticeMs, "runs of the task must know", () => {
      for (const run of ran) {
        if (run.finished || run.signal.aborted || !run.process.alive || run.process.pausedSince(from)) continue;
        // The run that ended the task, or took it over, has not lost it.
        if (this.stored(id)?.lease.token === token && this.tasks.get(id)?.over === undefined) continue;
        this.#world.violate("T11", `a run of ${this.tasks.get(id)?.tool} goes on after its end`);
      }
    });
  }

  /** T1, T3: a client was shown this task. */
  shown(client: string, id: string, status: string): void {
    const known = this.tasks.get(id);
    if (known === undefined) return this.#world.violate("T10", `${client} was told of a task that is not stored`);
    if (known.owner !== client) this.#world.violate("T3", `${client} was shown a task of ${known.owner}`);
    if (!["completed", "failed", "cancelled"].includes(status)) return;
    const end = known.over?.status;
    // The older form calls a result that says that the tool failed a failed task.
    const failed = end === "completed" && isFailure(known.over);
    if (status !== end && !(failed && status === "failed")) {
      this.#world.violate("T1", `${client} saw ${status}, and the task is ${end}`);
    }
  }

  /** T6: what is stored is over. */
  checkEnded(): void {
    for (const { id, tool, owner } of this.tasks.values()) {
      const record = this.stored(id);
      if (record === undefined || isOver(record) || tool === "endless") continue;
      this.#world.violate("T6", `the task ${tool} of ${owner} is still ${record.status}`);
    }
  }

  /** T8: nothing is left. */
  checkEmpty(): void {
    for (const key of this.keys) {
      const found = this.#storage?.kv.get(key) as { value: string } | undefined;
      if (found !== undefined) this.#world.violate("T8", `${key} is still stored: ${found.value.slice(0, 200)}`);
    }
  }
}

function isOver({ status }: TaskRecord): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

function isFailure(record: TaskRecord | undefined): boolean {
  const outcome = record?.outcome;
  return outcome !== undefined && "result" in outcome && (outcome.result as { isError?: boolean }).isError === true;
}
