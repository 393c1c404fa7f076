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
import { ClientTask, type PushedStatuses } from "./followed/followed-task.js";
import type { TaskSettings } from "./task-options.js";

/** Maximum number of ended tasks that are stored from status notifications. Beyond that, the oldest is dropped. */
const MAX_ENDED = 64;

/**
 * Marks the options of calls that shall become tasks. A symbol survives the copies that middleware makes of options.
 */
const STARTED = Symbol("started");

type StartOptions = CallOptions & {
  [STARTED]?: { started: (task: FollowedTask) => void; answer: TaskAnswerer | undefined };
};

/** Lets a client start tasks, wait for them, and find them again. */
export function connectTasks(client: ExtendedClient, settings: TaskSettings): ConnectedExtension<TaskFeature> {
  const answers = settings.answerByTask ? new AnswerTasks(client, settings) : undefined;
  const statuses = watchStatuses(client);
  const support = new Map<string, Promise<string | undefined>>();
  client.on("notifications/tools/list_changed", () => support.clear());
  const supportOf = (name: string) => {
    let known = support.get(name);
    if (known === undefined) {
      // If the tool list could not be read, the next call requests it again.
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
      follow: (taskId) => new ClientTask(client, statuses, taskId),
    },
    outgoing: {
      "tools/call": async (params, options) => {
        await client.ready();
        // In revisions where a call cannot request a task, the server alone decides which calls become tasks.
        if (!taskDialect(client.era.revision).callsRequest) return params;
        if (!hasCapability(client.serverCapabilities, "tasks.requests.tools.call")) return params;
        const taskSupport = await supportOf(String(params?.["name"]));
        const starts = (options as StartOptions)[STARTED] !== undefined;
        const wanted = taskSupport === "required" || (starts && taskSupport === "optional");
        return wanted ? ({ ...params, task: {} } as Params) : params;
      },
    },
    completes: { task: (outcome) => complete(client, statuses, outcome) },
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

function watchStatuses(client: ExtendedClient): PushedStatuses {
  const statuses: PushedStatuses = { ended: new BoundedMap(MAX_ENDED), following: new Map() };
  client.on("notifications/tasks/status", (params) => {
    try {
      const task = readTask(params);
      if (isFinalStatus(task.status)) statuses.ended.set(task.taskId, task);
    } catch {
      // An invalid notification only wakes the poll of its task, and the poll reports the problem.
    }
    for (const [{ id }, wake] of statuses.following) if (id === params["taskId"]) wake();
  });
  return statuses;
}

/** Returns the client with another function that answers questions. */
function answering(client: ExtendedClient, answer: TaskAnswerer | undefined): ExtendedClient {
  // Safe: the same object with one member replaced. It inherits the other members, including the getters.
  return answer === undefined ? client : (Object.create(client, { answer: { value: answer } }) as ExtendedClient);
}

async function complete(
  client: ExtendedClient,
  statuses: PushedStatuses,
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
    // The caller cancelled the call before the answer arrived. Cancel the task too, because no caller receives it.
    await new ClientTask(client, statuses, task.taskId, task).cancel();
    throw outcome.signal.reason;
  }
  const starts = (outcome.options as StartOptions)[STARTED];
  if (starts !== undefined) {
    starts.started(new ClientTask(answering(client, starts.answer), statuses, task.taskId, task));
    return outcome.result;
  }
  const followed = new ClientTask(client, statuses, task.taskId, task, true);
  // A task may take longer than a request. The time to live of the task limits the wait instead of the deadline.
  outcome.liftDeadline();
  try {
    return (await followed.outcome(outcome.signal)) as unknown as Record<string, unknown>;
  } catch (error) {
    // If the caller aborted the call, cancel the task. If the client is only closing, do not cancel the task: the
    // application may follow it again later.
    if (outcome.signal.aborted && !client.closing.aborted) followed.cancel().catch(() => {});
    throw error;
  }
}
