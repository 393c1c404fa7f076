import type { ConnectedExtension, ExtendedClient, ExtendedOutcome } from "../../client/contract/extension.js";
import type { CallOptions } from "../../client/contract/options.js";
import type { FollowedTask, TaskAnswerer, TaskFeature } from "../../client/contract/task-handle.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { readTask } from "../../era/task-shape.js";
import type { Params } from "../../jsonrpc/message.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import { hasCapability } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { isFinalStatus } from "../../protocol/features/tasks.js";
import { AnswerTasks } from "./answer-tasks.js";
import { ClientTask, type ToldStatuses } from "./followed/followed-task.js";
import type { TaskSettings } from "./task-options.js";

/** Ended tasks whose end the server told that are remembered. */
const MAX_ENDED = 64;

/** Marks options of calls that are to become tasks; a symbol outlives copies that middleware makes of options. */
const STARTED = Symbol("started");

type StartOptions = CallOptions & {
  [STARTED]?: { started: (task: FollowedTask) => void; answer: TaskAnswerer | undefined };
};

/** Lets a client wait for tasks, start them and find them again. */
export function connectTasks(client: ExtendedClient, settings: TaskSettings): ConnectedExtension<TaskFeature> {
  const answers = settings.answerByTask ? new AnswerTasks(client, settings) : undefined;
  const told = toldStatuses(client);
  const support = new Map<string, Promise<string | undefined>>();
  client.on("notifications/tools/list_changed", () => support.clear());
  const supportOf = (name: string) => {
    let known = support.get(name);
    if (known === undefined) {
      // A list that failed is asked for again with the next call.
      known = client.tool(name).then(
        (tool) => tool?.execution?.taskSupport,
        () => void support.delete(name),
      );
      support.set(name, known);
    }
    return known;
  };
  return {
    feature: {
      startOptions: (options, started, answer) => ({ ...options, [STARTED]: { started, answer } }) as CallOptions,
      follow: (taskId) => new ClientTask(client, told, taskId),
    },
    outgoing: {
      "tools/call": async (params, options) => {
        await client.ready();
        // Only where the server cannot decide alone does the call say that it may become a task.
        if (!taskDialect(client.era.revision).callsRequest) return params;
        if (!hasCapability(client.serverCapabilities, "tasks.requests.tools.call")) return params;
        const taskSupport = await supportOf(String(params?.["name"]));
        const starts = (options as StartOptions)[STARTED] !== undefined;
        const wanted = taskSupport === "required" || (starts && taskSupport === "optional");
        return wanted ? ({ ...params, task: {} } as Params) : params;
      },
    },
    completes: { task: (outcome) => complete(client, told, outcome) },
    ...(answers === undefined
      ? {}
      : {
          capabilities: (revision) => answers.capabilities(revision),
          handlers: answers.handlers,
          answering: answers.answering,
          close: () => answers.close(),
        }),
  };
}

function toldStatuses(client: ExtendedClient): ToldStatuses {
  const told: ToldStatuses = { ended: new BoundedMap(MAX_ENDED), following: new Map() };
  client.on("notifications/tasks/status", (params) => {
    try {
      const task = readTask(params);
      if (isFinalStatus(task.status)) told.ended.set(task.taskId, task);
    } catch {
      // A task that is followed is looked at, which shows what is wrong.
    }
    for (const [{ id }, wake] of told.following) if (id === params["taskId"]) wake();
  });
  return told;
}

/** The client with somebody else who answers. */
function answering(client: ExtendedClient, answer: TaskAnswerer | undefined): ExtendedClient {
  // Safe: the same object, but for one member; the others stay getters.
  return answer === undefined ? client : (Object.create(client, { answer: { value: answer } }) as ExtendedClient);
}

async function complete(
  client: ExtendedClient,
  told: ToldStatuses,
  outcome: ExtendedOutcome,
): Promise<Record<string, unknown>> {
  // Spec: Tasks extension, "Creating Tasks": no other request may become a task.
  if (outcome.method !== "tools/call") {
    throw new McpError("invalid_response", `the server answered ${outcome.method} with a task`, {
      data: { result: outcome.result },
    });
  }
  const task = readTask(outcome.result);
  if (outcome.signal.aborted) {
    // The answer crossed the cancellation: nobody gets to know the task.
    await new ClientTask(client, told, task.taskId, task).cancel();
    throw outcome.signal.reason;
  }
  const starts = (outcome.options as StartOptions)[STARTED];
  if (starts !== undefined) {
    starts.started(new ClientTask(answering(client, starts.answer), told, task.taskId, task));
    return outcome.result;
  }
  const followed = new ClientTask(client, told, task.taskId, task, true);
  // A task may take longer than any request should; it has a time to live of its own.
  outcome.liftDeadline();
  try {
    return (await followed.outcome(outcome.signal)) as unknown as Record<string, unknown>;
  } catch (error) {
    // The caller gave up. Who only closes the client may come back for the task.
    if (outcome.signal.aborted && !client.closing.aborted) followed.cancel().catch(() => {});
    throw error;
  }
}
