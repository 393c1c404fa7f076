import { McpError } from "../../../src/protocol/error.js";
import type { SimTaskClient, TaskSurroundings } from "./sim-task-client.js";
import { SECOND_ANSWER } from "./task-ledger.js";

/** Has the form of an id. */
const UNKNOWN = "x".repeat(32);
const QUICK = { timeouts: { idleMs: 8_000, totalMs: 8_000 } };
/** Failures of the way to the server or of its storage, which say nothing of a task. */
const PASSING: ReadonlySet<string> = new Set([
  "connection_closed",
  "transport_error",
  "timeout",
  "session_lost",
  "connect_failed",
  "internal_error",
  "cancelled",
]);

/** T3: asks for a task of somebody else in every way that there is; each must be answered as for an id that nobody has. */
export async function tryForeign(run: TaskSurroundings, client: SimTaskClient): Promise<void> {
  const { ledger, world } = run;
  const foreign = [...ledger.tasks.values()].filter(({ owner }) => owner !== client.plan.name);
  const victim = foreign[client.random.int(0, Math.max(0, foreign.length - 1))];
  if (client.client === undefined || victim === undefined) return;
  const inputResponses = Object.fromEntries([...victim.asked].map((key) => [key, { action: "accept", content: {} }]));
  const methods = ["tasks/get", "tasks/update", "tasks/cancel", ...(isOlder(client) ? ["tasks/result"] : [])] as const;
  const before = JSON.stringify(ledger.stored(victim.id)?.answers);
  for (const method of methods) {
    const params = method === "tasks/update" ? { inputResponses } : {};
    const [found, unknown] = [
      await said(client, method, victim.id, params),
      await said(client, method, UNKNOWN, params),
    ];
    if (found === undefined || unknown === undefined || found === unknown) continue;
    world.violate("T3", `${method} of a task of ${victim.owner} gave ${client.plan.name} ${found}, not ${unknown}`);
  }
  const after = JSON.stringify(ledger.stored(victim.id)?.answers);
  if (before !== after && after?.includes('"content":{}') === true) {
    world.violate("T3", `${client.plan.name} answered a question of ${victim.owner}`);
  }
  if (!isOlder(client)) await listenTo(run, client, victim.id);
}

/** What the server said, as text; undefined when it said nothing of the task. */
async function said(
  client: SimTaskClient,
  method: string,
  taskId: string,
  params: object,
): Promise<string | undefined> {
  try {
    const result = await client.client?.request(method, { ...params, taskId }, QUICK);
    return JSON.stringify(result);
  } catch (error) {
    if (!McpError.is(error) || PASSING.has(error.kind)) return undefined;
    return JSON.stringify([error.code, error.message, error.data]);
  }
}

/** T3: what is told of a task is for its owner alone; the client itself looks at what it is told. */
async function listenTo({ world }: TaskSurroundings, client: SimTaskClient, id: string): Promise<void> {
  const over = new AbortController();
  const open = client.client;
  if (open === undefined) return;
  const off = open.on("notifications/subscriptions/acknowledged", (params: unknown) => {
    if (JSON.stringify(params).includes(id)) world.violate("T3", `${client.plan.name} may hear of a task of another`);
  });
  const stream = open
    .request("subscriptions/listen", { notifications: { taskIds: [id, UNKNOWN] } }, { signal: over.signal })
    .catch(() => {});
  await client.process.sleep(client.random.int(500, 5_000));
  over.abort();
  await stream;
  off();
}

interface Shown {
  taskId: string;
  status: string;
}

/** T5: answers what its own task has not asked, and a second time what it has: the first answer counts. */
export async function answerTwice({ ledger }: TaskSurroundings, client: SimTaskClient): Promise<void> {
  const { name } = client.plan;
  const own = [...ledger.tasks.values()].filter(({ owner }) => owner === name);
  const task = own[client.random.int(0, Math.max(0, own.length - 1))];
  if (task === undefined || client.revision === "2025-11-25") return;
  const answers = [...task.asked, "nobody-asked"].map((key) => [key, SECOND]);
  await said(client, "tasks/update", task.id, { inputResponses: Object.fromEntries(answers) });
}

const SECOND = { action: "accept", content: { word: SECOND_ANSWER } };

/** T3: a list shows the tasks of its caller, and all of those. */
export async function listTasks({ world, ledger }: TaskSurroundings, client: SimTaskClient): Promise<void> {
  const { name } = client.plan;
  if (client.client === undefined || !isOlder(client)) return;
  const own = client.started.flatMap(({ handle: { id } }) => (id === undefined ? [] : [id]));
  const seen = new Set<string>();
  try {
    let cursor: string | undefined;
    do {
      const page = await client.client.request("tasks/list", cursor === undefined ? {} : { cursor }, QUICK);
      const { tasks, nextCursor } = page as unknown as { tasks: Shown[]; nextCursor?: string };
      for (const { taskId, status } of tasks) {
        seen.add(taskId);
        ledger.shown(name, taskId, status);
      }
      cursor = nextCursor;
    } while (cursor !== undefined);
  } catch {
    return;
  }
  const missing = own.filter((id) => !seen.has(id) && ledger.stored(id) !== undefined);
  if (missing.length > 0) world.violate("T3", `${name} does not see ${missing.length} of its own tasks`);
}

function isOlder(client: SimTaskClient): boolean {
  return client.revision === "2025-11-25";
}
