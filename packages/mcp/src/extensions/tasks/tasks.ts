import type { TaskFeature } from "../../client/contract/task-handle.js";
import { TASKS } from "../../protocol/features/tasks.js";
import { type DefinedExtension, defineExtension } from "../seam/define-extension.js";
import { connectTasks } from "./task-client.js";
import { type TaskOptions, taskSettings } from "./task-options.js";
import { serveTasks } from "./task-server.js";

/**
 * Creates the tasks extension, for the `extensions` option of `new Server` and of `connect`. On a server, calls to
 * tools with the `task` option become tasks: the client receives a task id at once, and polls for the result. On a
 * client, a call that becomes a task waits for the result of the task, and `client.startTask` starts a task without
 * waiting. Throws `invalid_definition` for unknown options and invalid values.
 *
 * Spec: Tasks extension, https://modelcontextprotocol.io/extensions/tasks/overview
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/tasks.md | Tasks}
 */
export function tasks(options: TaskOptions = {}): DefinedExtension<TaskFeature> {
  const settings = taskSettings(options);
  return defineExtension<TaskFeature>({
    ...TASKS,
    server: (server) => serveTasks(server, settings),
    client: (client) => connectTasks(client, settings),
  });
}
