import { type Client, connect, McpError } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";

/** A task of a lane, and what became of it. */
export interface PlannedTask {
  readonly tool: "steps" | "asks" | "plain" | "again";
  /** Changes when the call has to be made again: nobody knows whether the first one became a task. */
  name: string;
  readonly steps: number;
  readonly restMs: number;
  readonly hasSteps: boolean;
  result?: string;
  failure?: string;
}

/** Most have several steps, some ask, some have none, some of these may begin again. */
export function planTasks(count: number, random: () => number): PlannedTask[] {
  return Array.from({ length: count }, (_, at) => {
    const tool = at % 10 === 3 || at % 10 === 7 ? "asks" : at % 20 === 5 ? "plain" : at % 10 === 9 ? "again" : "steps";
    const hasSteps = tool === "steps" || tool === "asks";
    return { tool, name: `task-${at}`, steps: 3 + Math.floor(random() * 8), restMs: 100 + random() * 400, hasSteps };
  });
}

/** What a call without a task would give. */
export function directResult({ tool, name, steps }: PlannedTask): string {
  if (tool === "plain" || tool === "again") return `${name} done`;
  let value = 0;
  for (let step = 0; step < steps; step++) {
    const word = tool === "asks" && step > 0 ? wordFor(`word ${step} of ${name}`).length : 0;
    value = ((value + word) * 31 + step + name.length) % 1_000_003;
  }
  return `${name} ${value}`;
}

function wordFor(question: string): string {
  return `${question.length}${question}`;
}

/** Attempts to start a task whose worker ended in between. */
const MAX_STARTS = 50;

/** A client of one worker, whose address outlives the worker. */
export class TaskCustomer {
  #client: Client | undefined;
  answers = 0;
  again = 0;

  static async join(port: number): Promise<TaskCustomer> {
    const customer = new TaskCustomer();
    customer.#client = await connect(`http://127.0.0.1:${port}/mcp`, {
      revisions: ["2026-07-28"],
      extensions: [tasks()],
      onElicit: ({ message }) => {
        customer.answers++;
        return { action: "accept", content: { word: wordFor(message) } };
      },
    });
    return customer;
  }

  async leave(): Promise<void> {
    await this.#client?.close().catch(() => {});
  }

  /** Starts a task here, and waits for it at another customer. */
  async run(task: PlannedTask, waiter: TaskCustomer): Promise<void> {
    try {
      const id = await this.#start(task);
      task.result = String(await waiter.#client?.task(id).result());
    } catch (error) {
      task.failure = McpError.is(error) ? `${error.kind}: ${error.message}` : String(error);
    }
  }

  async #start(task: PlannedTask): Promise<string> {
    const name = task.name;
    for (let attempt = 0; attempt < MAX_STARTS; attempt++) {
      if (attempt > 0) {
        this.again++;
        task.name = `${name}-${attempt}`;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      try {
        const args = { name: task.name, steps: task.steps, restMs: task.restMs };
        const started = await this.#client?.startTask(task.tool, args);
        if (started?.id !== undefined) return started.id;
      } catch {
        // Its worker has just been killed.
      }
    }
    throw new Error("the task could not be started");
  }
}
