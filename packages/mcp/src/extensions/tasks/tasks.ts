import type { TaskFeature } from "../../client/contract/task-handle.js";
import { TASKS } from "../../protocol/features/tasks.js";
import { type DefinedExtension, defineExtension } from "../seam/define-extension.js";
import { connectTasks } from "./task-client.js";
import { type TaskOptions, taskSettings } from "./task-options.js";
import { serveTasks } from "./task-server.js";

/** Makes the tasks extension, for `extensions` of `new Server` and of `connect`. */
export function tasks(options: TaskOptions = {}): DefinedExtension<TaskFeature> {
  const settings = taskSettings(options);
  return defineExtension<TaskFeature>({
    ...TASKS,
    server: (server) => serveTasks(server, settings),
    client: (client) => connectTasks(client, settings),
  });
}
