import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

/** A worker that dies sooner than this after its start is replaced only then, so that a broken one does not take all time. */
const LEAST_LIFE_MS = 1_000;

/** Starts this program once more for each core, replaces those that die, and ends them all when told to. */
export class Workers {
  #stopping = false;

  async start(count: number, env: Record<string, string>): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#fork(env)));
  }

  /** Lets all workers finish what they do. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ended = workers.map((worker) => once(worker, "exit"));
    for (const worker of workers) worker.process.kill("SIGTERM");
    await Promise.all(ended);
  }

  async #fork(env: Record<string, string>): Promise<Worker> {
    const worker = cluster.fork(env);
    const replacedFrom = wait(LEAST_LIFE_MS, undefined, { ref: false });
    worker.once("exit", async () => {
      if (this.#stopping) return;
      await replacedFrom;
      if (!this.#stopping) await this.#fork(env);
    });
    await once(worker, "listening");
    return worker;
  }
}
