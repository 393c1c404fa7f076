import type { Client } from "../../../src/client/client.js";
import type { ClientOptions, ResendPolicy } from "../../../src/client/contract/options.js";
import type { TaskHandle } from "../../../src/client/contract/task-handle.js";
import { openClient } from "../../../src/client/open-client.js";
import { tasks } from "../../../src/extensions/tasks/tasks.js";
import type { Fetch } from "../../../src/platform/platform.js";
import { McpError } from "../../../src/protocol/error.js";
import type { Revision } from "../../../src/protocol/revisions.js";
import type { Prng } from "../prng.js";
import type { SimCluster } from "../sim-cluster.js";
import type { SimHttp } from "../sim-http.js";
import { SimProcess } from "../sim-process.js";
import type { World } from "../world.js";
import type { TaskLedger, TaskWork } from "./task-ledger.js";
import { expectedValue, questionOf } from "./task-tools.js";

/** What the applications of one run share. */
export interface TaskSurroundings {
  world: World;
  ledger: TaskLedger;
  cluster: SimCluster;
  http: SimHttp;
  url: string;
  /** By when a wait for a task must have ended. */
  waitMs: number;
  /** Ends of waits, counted. */
  outcomes: Map<string, number>;
  /** True where nothing breaks. */
  calm: boolean;
}

/** How one application connects; a later connection may do it otherwise. */
export interface TaskClientPlan {
  name: string;
  resend: ResendPolicy;
  /** False for an application that answers no questions. */
  answers: boolean;
}

/** A task that an application has begun. */
export interface StartedTask {
  readonly work: TaskWork;
  readonly tool: string;
  readonly handle: TaskHandle;
  /** Which life of the application its handle belongs to. */
  readonly life: number;
}

/** What an application says to a question. */
type Said = { action: "accept"; content: { word: string } } | { action: "decline" };

/** What an application does with a task that it has begun. */
export type Way = "wait" | "call" | "watch" | "leave" | "cancel";

const ERAS: readonly [Revision, ...Revision[]] = ["2026-07-28", "2026-07-28", "2025-11-25"];
const CLOSE_MS = 6_000;

/** One application that begins tasks, waits for them, answers their questions, and comes and goes. */
export class SimTaskClient {
  readonly plan: TaskClientPlan;
  readonly random: Prng;
  readonly started: StartedTask[] = [];
  process: SimProcess;
  client: Client | undefined;
  revision: Revision = "2026-07-28";
  connecting = 0;
  waiting = 0;
  readonly #run: TaskSurroundings;
  /** Handles of this process by the nonce of their work, and how often each question was put to it. */
  readonly #handles = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  #lives = 0;
  #crashes = 0;
  #nonces = 0;
  #words = 0;

  constructor(run: TaskSurroundings, plan: TaskClientPlan) {
    this.#run = run;
    this.plan = plan;
    this.random = run.world.random.fork(`task client ${plan.name}`);
    this.process = this.#newProcess();
  }

  get idle(): boolean {
    return this.waiting === 0 && this.connecting === 0;
  }

  /** Connects in one of the eras, over one of the transports, some times if need be. */
  async connect(attempts: number): Promise<void> {
    if (this.client !== undefined || this.connecting > 0) return;
    const { process } = this;
    this.connecting++;
    this.revision = this.random.pick(ERAS);
    for (let attempt = 1; attempt <= attempts && this.client === undefined && process.alive; attempt++) {
      try {
        const client = await this.open([tasks()]);
        this.#listen(client);
        this.client = client;
        this.#run.world.note(`${this.plan.name} is connected by ${client.protocolVersion}`);
      } catch (error) {
        this.#typed("connect", error);
        await process.sleep(this.random.int(100, 2_000));
      }
    }
    this.connecting--;
  }

  /** Ends without a word, as a process that is killed, and comes back as another one. */
  crash(): void {
    this.#run.world.note(`${this.plan.name} is killed`);
    this.process.kill();
    this.#crashes++;
    this.client = undefined;
    this.waiting = 0;
    this.connecting = 0;
    this.#handles.clear();
    this.#asked.clear();
    this.process = this.#newProcess();
  }

  async close(): Promise<void> {
    const { client, process } = this;
    if (client === undefined) return;
    this.client = undefined;
    this.process = this.#newProcess();
    await this.#bounded("close", CLOSE_MS, () => client.close());
    this.#run.world.note(`${this.plan.name} is closed`);
    const { world } = this.#run;
    world.after(1, "a closed client has no timers", () => {
      if (process.timers > 0) world.violate("I8", `${this.plan.name} has ${process.timers} timers after its end`);
    });
  }

  /** Runs a tool as a task, and waits for it in one of the ways that there are. */
  async begin(tool: string, way: Way, given: Omit<TaskWork, "nonce">): Promise<void> {
    const { client } = this;
    if (client === undefined) return;
    const work = this.#newWork(given);
    if (way === "call") {
      // A call that ends too late for its caller ends its task.
      this.#run.ledger.unwanted.add(work.nonce);
      return this.#settle(work, tool, () => client.call(tool, { ...work }, LONG));
    }
    const handle = await this.#bounded("start", START_MS, () => client.startTask(tool, { ...work }));
    if (handle === undefined) return;
    if (handle.id === undefined) return this.#settle(work, tool, () => handle.result());
    this.#run.ledger.begun(this.plan.name, handle.id, handle.status);
    const started = { work, tool, handle, life: this.#crashes };
    this.started.push(started);
    if (way === "leave") return;
    if (way === "cancel") {
      await this.process.sleep(this.random.int(0, 4_000));
      await this.cancel(started);
    }
    if (way === "watch") await this.watch(started);
    // What a process does that was killed in between is not judged.
    if (started.life !== this.#crashes) return;
    await this.#settle(work, tool, () => handle.result());
  }

  /** Finds an earlier task again, over whatever connection there is now. */
  async again({ work, tool, handle }: StartedTask): Promise<void> {
    const { client } = this;
    if (client === undefined) return;
    this.#handles.set(work.nonce, (this.#handles.get(work.nonce) ?? 0) + 1);
    const life = this.#crashes;
    const found = client.task(handle.toJSON());
    if (this.random.chance(0.4)) await this.watch({ work, tool, handle: found, life });
    if (life !== this.#crashes) return;
    await this.#settle(work, tool, () => found.result());
  }

  /** T10: a task is over when its client is told that it is cancelled. */
  async cancel({ tool, handle, life }: StartedTask): Promise<void> {
    const { ledger, world } = this.#run;
    const found = life === this.#crashes ? handle : this.client?.task(handle.toJSON());
    if (handle.id !== undefined) ledger.unwanted.add(handle.id);
    const done = await this.#bounded("cancel", START_MS * 2, async () => {
      await found?.cancel();
      return found !== undefined;
    });
    const record = done === true && handle.id !== undefined ? ledger.stored(handle.id) : undefined;
    if (record !== undefined && ["working", "input_required"].includes(record.status)) {
      world.violate("T10", `${tool} of ${this.plan.name} was cancelled and is ${record.status}`);
    }
  }

  /** T1: a task that was over stays so. */
  async watch({ handle }: StartedTask): Promise<void> {
    await this.#bounded("watch", this.#run.waitMs, async () => {
      let over = false;
      for await (const { taskId, status } of handle) {
        if (over) this.#run.world.violate("T1", `${this.plan.name} saw ${status} after the end of a task`);
        over = ["completed", "failed", "cancelled"].includes(status);
        this.#run.ledger.shown(this.plan.name, taskId, status);
      }
    });
  }

  /** T4: calls a tool without the extension; the result must be the same as that of a task. */
  async direct(tool: string, given: Omit<TaskWork, "nonce">): Promise<void> {
    const work = this.#newWork(given);
    const process = this.#newProcess();
    this.process.onKill(() => process.kill());
    const client = await this.#bounded("connect", START_MS, () => this.open([], process));
    if (client === undefined) return;
    await this.#settle(work, tool, () => client.call(tool, { ...work }, LONG));
    await this.#bounded("close", CLOSE_MS, () => client.close());
  }

  #newWork(given: Omit<TaskWork, "nonce">): TaskWork {
    const nonce = `${this.plan.name}#${++this.#nonces}`;
    this.#handles.set(nonce, 1);
    return { ...given, nonce };
  }

  /** T3, T5: only its own questions are put to an application, once for each handle. */
  async #answer(message: string, signal: AbortSignal): Promise<Said> {
    const { world, ledger } = this.#run;
    if (!message.startsWith(`${this.plan.name}#`)) world.violate("T3", `${this.plan.name} was asked "${message}"`);
    world.note(`${this.plan.name} is asked "${message}"`);
    const { process } = this;
    const times = (this.#asked.get(message) ?? 0) + 1;
    this.#asked.set(message, times);
    const handles = this.#handles.get(message.split(" ")[0] ?? "") ?? 0;
    // Whoever waits anew puts what was taken back, because the wait that needed it had failed.
    let isOpen = true;
    signal.addEventListener("abort", () => isOpen && this.#asked.set(message, (this.#asked.get(message) ?? 1) - 1));
    // In the older form each process that a client comes to may ask it, and asks again when it comes back.
    if (times > handles && this.revision === "2026-07-28") {
      world.violate("T5", `"${message}" was put ${times} times for ${handles} handles`);
    }
    await process.sleep(this.random.int(0, 2_500));
    isOpen = false;
    const given = ledger.given.get(message) ?? new Set();
    ledger.given.set(message, given);
    const declines = this.random.chance(0.1);
    const word = declines ? "no" : `${message} ${++this.#words}`;
    given.add(word);
    world.note(`${this.plan.name} answers "${word}"`);
    return declines ? { action: "decline" } : { action: "accept", content: { word } };
  }

  /** Over the network of the run. */
  open(extensions: ClientOptions["extensions"], process = this.process): Promise<Client> {
    const { cluster, http, url } = this.#run;
    const { name, resend, answers } = this.plan;
    const options: ClientOptions = {
      platform: process.platform,
      timeouts: { connectMs: 8_000, idleMs: 10_000, totalMs: 15_000 },
      resend,
      revisions: [this.revision],
      extensions,
      ...(answers ? { onElicit: ({ message }, { signal }) => this.#answer(message, signal) } : {}),
    };
    // Not by `connect`, whose loading of the client would be an event outside the simulation. The tools have no types here.
    const opened = this.random.chance(0.5)
      ? openClient({ makeTransport: () => cluster.pipeTo(process, name) }, options)
      : openClient(url, {
          ...options,
          headers: { authorization: `Bearer ${name}` },
          fetch: this.#fetch(
            process,
            http.fetchOf(name, () => cluster.pick()),
          ),
        });
    return opened as Promise<Client>;
  }

  /** Ends with its process. */
  #fetch(process: SimProcess, fetch: Fetch): Fetch {
    const life = new AbortController();
    process.onKill(() => life.abort(new Error("the simulated client was killed")));
    return (url, init) => {
      const signal = init?.signal == null ? life.signal : AbortSignal.any([init.signal, life.signal]);
      return process.alive ? fetch(url, { ...init, signal }) : new Promise(() => {});
    };
  }

  #listen(client: Client): void {
    const { ledger } = this.#run;
    const shown = (params: unknown) => {
      const { taskId, status } = params as { taskId: string; status: string };
      ledger.shown(this.plan.name, taskId, status);
    };
    client.on("notifications/tasks", shown);
    client.on("notifications/tasks/status", shown);
  }

  /** T4, T7: one end in time, and the result is what every run of the tool comes to. */
  async #settle(work: TaskWork, tool: string, result: () => Promise<unknown>): Promise<void> {
    const { world, ledger } = this.#run;
    const value = await this.#bounded(tool, this.#run.waitMs, async () => ({ value: await result() }));
    if (value === undefined) return;
    const used = [...ledger.tasks.values()].map((task) => task.used);
    const asked = tool === "asking" ? Array.from({ length: work.parts }, (_, at) => questionOf(work.nonce, at)) : [];
    const fits = (words: readonly string[]) => value.value === expectedValue(work, tool, words);
    const right =
      asked.length === 0
        ? fits([])
        : used.some(
            (answers) => asked.every((one) => answers.has(one)) && fits(asked.map((one) => answers.get(one) ?? "")),
          );
    if (!right) world.violate("T4", `${tool} of ${this.plan.name} gave ${JSON.stringify(value.value)}`);
  }

  /** T7: ends once, by its deadline, and fails with an error of the library only. */
  async #bounded<T>(what: string, ms: number, work: () => Promise<T>): Promise<T | undefined> {
    const { world } = this.#run;
    const { process } = this;
    const life = this.#crashes;
    this.waiting++;
    const late = world.after(ms, `${what} is late`, () => {
      if (life === this.#crashes) world.violate("T7", `${what} of ${this.plan.name} did not end within ${ms} ms`);
    });
    process.onKill(() => world.cancel(late));
    try {
      const value = await work();
      if (life !== this.#crashes) return undefined;
      this.#ended(what, "ok");
      return value;
    } catch (error) {
      if (life !== this.#crashes) return undefined;
      this.#typed(what, error);
      this.#ended(what, McpError.is(error) ? error.kind : "untyped");
      return undefined;
    } finally {
      world.cancel(late);
      if (life === this.#crashes) this.waiting--;
    }
  }

  #ended(what: string, how: string): void {
    const { world, outcomes } = this.#run;
    world.note(`${what} of ${this.plan.name} ends: ${how}`);
    const key = `${what} ${how}`;
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  }

  #typed(what: string, error: unknown): void {
    if (!McpError.is(error))
      this.#run.world.violate("typed", `${what} of ${this.plan.name} failed with ${String(error)}`);
  }

  #newProcess(): SimProcess {
    return new SimProcess(this.#run.world, `${this.plan.name}.${++this.#lives}`);
  }
}

const START_MS = 40_000;
const LONG = { timeouts: { idleMs: 60_000, totalMs: 120_000 } };
