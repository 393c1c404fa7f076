import { defineExtension } from "@parley/mcp/extension";
import { TASKS } from "../../src/protocol/features/tasks.js";

/** Declares the extension and handles nothing of it, so that a test sees what the server sends. */
export const declaresTasks = defineExtension({ ...TASKS });

/** The same for a test that wants to see the result that holds a task in the older form, of which it only gets the task. */
export const seesTasks = defineExtension({ ...TASKS, resultTypes: [] });

/** Knows the methods of tasks and does not declare the extension. */
export const knowsTasks = defineExtension({
  ...TASKS,
  id: "example.com/knows-tasks",
  resultTypes: [],
  listenFilters: [],
});

/** A client that can send any request. */
interface Asking {
  request(method: string, params: object): Promise<object>;
}

/** The result of a request as it came. */
export function ask(client: Asking, method: string, params: object = {}): Promise<Record<string, unknown>> {
  return client.request(method, params) as Promise<Record<string, unknown>>;
}

/** Calls a tool and gives the id of the task that the call became, in either form. */
export async function begin(client: Asking, name: string, args: object = {}): Promise<string> {
  const created = await ask(client, "tools/call", { name, arguments: args, task: {} });
  const { taskId } = (created["task"] ?? created) as { taskId: string };
  return taskId;
}

/** Looks at a task until it is as wanted. */
export async function look(client: Asking, taskId: string, ...wanted: string[]): Promise<Record<string, unknown>> {
  for (let i = 0; i < 1000; i++) {
    const task = await ask(client, "tasks/get", { taskId });
    if (wanted.includes(String(task["status"]))) return task;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the task never became ${wanted.join(" or ")}`);
}
