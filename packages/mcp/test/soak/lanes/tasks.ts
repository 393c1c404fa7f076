import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStorage } from "@parley/mcp/storage";
import { freePort } from "../../free-port.js";
import { exactly, type Lane, scaled, told } from "../lane.js";
import { type Program, startProgram } from "../program.js";
import type { TaskWorkerSettings } from "../programs/task-worker.js";
import { serveStorage } from "../remote-storage.js";
import { seededRandom } from "../seeded-random.js";
import { directResult, type PlannedTask, planTasks, TaskCustomer } from "../task-customer.js";
import { waitFor } from "../wait-for.js";

const WORKERS = 3;
const KILLS = 30;
const LEASE_MS = 900;
/** Tasks at once. */
const AT_ONCE = 60;

export const tasks: Lane = {
  name: "tasks",
  what: "200 durable tasks on 3 workers that share a storage, while workers are killed 30 times in the middle and started anew",
  async run({ scale, bundle, say }) {
    const planned = planTasks(scaled(200, scale), seededRandom(1));
    const kills = scaled(KILLS, scale);
    const place = join(tmpdir(), `parley-soak-${randomUUID()}`);
    const file = await bundle(new URL("../programs/task-worker.ts", import.meta.url));
    const shared = memoryStorage();
    const stop = await serveStorage(shared, `${place}.sock`);
    const crew = new Crew(file, { storage: `${place}.sock`, lines: `${place}.log`, leaseMs: LEASE_MS });
    const customers: TaskCustomer[] = [];
    const since = performance.now();
    try {
      const ports = await crew.start();
      for (const port of ports) customers.push(await TaskCustomer.join(port));
      let goesOn = true;
      const isDue = (at: number) => crew.killed >= (at / planned.length) * kills - 1;
      const running = runAll(planned, customers, isDue).finally(() => {
        goesOn = false;
      });
      await crew.killInBetween(kills, () => goesOn, say);
      await running;
      const seconds = (performance.now() - since) / 1000;
      const counted = count(planned, readFileSync(`${place}.log`, "utf8"));
      const keys = await keysLeft(crew, shared);
      return {
        size: { tasks: planned.length, workers: WORKERS, kills: crew.killed },
        measures: [
          exactly("tasks that ended", counted.ended, planned.length),
          exactly("workers killed in the middle", crew.killed, kills),
          exactly("steps done twice", counted.repeated, 0),
          exactly("steps of completed tasks that were not done", counted.missing, 0),
          exactly("results that differ from those of a direct call", counted.wrong, 0),
          exactly("tasks that failed for another reason than the end of their worker", counted.unexplained, 0),
          exactly("tasks that may begin again and did not complete", counted.gaveUp, 0),
          exactly("keys of workers left in the storage", keys, 0),
          told("count", "tasks that completed", counted.completed, ""),
          told("count", "tasks that failed because their worker ended in a step", counted.cut, ""),
          told("count", "tasks without steps that failed because their worker ended", counted.stepless, ""),
          told(
            "count",
            "answers given to questions",
            sum(customers, ({ answers }) => answers),
            "",
          ),
          told(
            "count",
            "calls that were made again because their worker ended",
            sum(customers, (one) => one.again),
            "",
          ),
          told("time", "tasks per second", planned.length / seconds, "/s"),
        ],
        notes: [
          "A step that its worker ended in may have been done, so its task fails and says so unless the tool allows to begin again.",
        ],
      };
    } finally {
      await Promise.all(customers.map((customer) => customer.leave()));
      await crew.stop();
      await stop();
      rmSync(`${place}.log`, { force: true });
    }
  },
};

function sum(customers: readonly TaskCustomer[], read: (customer: TaskCustomer) => number): number {
  return customers.reduce((total, customer) => total + read(customer), 0);
}

/** Starts each task at one worker when it is due, and waits for it at the next one. */
async function runAll(
  planned: readonly PlannedTask[],
  customers: readonly TaskCustomer[],
  isDue: (at: number) => boolean,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < planned.length; at = next++) {
      // Spread over all kills, so that each of them hits some.
      await waitFor(() => isDue(at), 600_000);
      const task = planned[at];
      const [starter, waiter] = [customers[at % customers.length], customers[(at + 1) % customers.length]];
      if (task !== undefined && starter !== undefined && waiter !== undefined) await starter.run(task, waiter);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** The workers, each at a port of its own that it gets again when it is started anew. */
class Crew {
  readonly #file: string;
  readonly #settings: Omit<TaskWorkerSettings, "port">;
  readonly #workers: Program<unknown>[] = [];
  readonly #ports: number[] = [];
  killed = 0;

  constructor(file: string, settings: Omit<TaskWorkerSettings, "port">) {
    this.#file = file;
    this.#settings = settings;
  }

  async start(): Promise<readonly number[]> {
    for (let at = 0; at < WORKERS; at++) {
      this.#ports.push(await freePort());
      await this.#startAt(at);
    }
    return this.#ports;
  }

  async #startAt(at: number): Promise<void> {
    this.#workers[at] = await startProgram(this.#file, { ...this.#settings, port: this.#ports[at] ?? 0 });
  }

  /** Kills one worker after the other at random moments as long as tasks are open. */
  async killInBetween(kills: number, goesOn: () => boolean, say: (line: string) => void): Promise<void> {
    const random = seededRandom(2);
    while (this.killed < kills && goesOn()) {
      await new Promise((resolve) => setTimeout(resolve, 300 + 700 * random()));
      if (!goesOn()) break;
      const at = Math.floor(random() * WORKERS);
      await this.#workers[at]?.kill();
      this.killed++;
      await this.#startAt(at);
      if (this.killed % 10 === 0) say(`killed ${this.killed} workers`);
    }
  }

  /** Closes all workers, so that they leave what they have. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.ask("close")));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}

/** What is left of the workers when all of them have closed. */
async function keysLeft(crew: Crew, shared: ReturnType<typeof memoryStorage>): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 3 * LEASE_MS));
  await crew.close();
  return (await shared.kv.get("server/soak/task-nodes")) === undefined ? 0 : 1;
}

function count(planned: readonly PlannedTask[], text: string) {
  const lines = text.split("\n").filter((line) => line !== "");
  const done = new Map<string, number>();
  for (const line of lines) done.set(line, (done.get(line) ?? 0) + 1);
  const of = (check: (task: PlannedTask) => boolean) => planned.filter(check).length;
  const failedWith = (task: PlannedTask, part: string) => task.failure?.includes(part) === true;
  const isCut = (task: PlannedTask) => failedWith(task, "interrupted during step");
  const isEarly = (task: PlannedTask) => failedWith(task, "before its first step");
  const missing = planned.flatMap((task) =>
    task.result === undefined || !task.hasSteps
      ? []
      : Array.from({ length: task.steps }, (_, step) => `${task.name} ${step}`).filter((line) => !done.has(line)),
  );
  return {
    ended: of(({ result, failure }) => result !== undefined || failure !== undefined),
    completed: of(({ result }) => result !== undefined),
    repeated: [...done].filter(([line, times]) => times > 1 && !line.endsWith(" run")).length,
    missing: missing.length,
    wrong: of((task) => task.result !== undefined && task.result !== directResult(task)),
    cut: of((task) => task.hasSteps && (isCut(task) || isEarly(task))),
    stepless: of((task) => !task.hasSteps && isEarly(task)),
    unexplained: of((task) => task.failure !== undefined && !isCut(task) && !isEarly(task)),
    gaveUp: of((task) => task.tool === "again" && task.result === undefined),
  };
}
