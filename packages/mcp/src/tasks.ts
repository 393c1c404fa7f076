export type {
  FollowedTask,
  SavedTask,
  TaskFeature,
  TaskHandle,
  TaskWaitOptions,
} from "./client/contract/task-handle.js";
export type { TaskLimits, TaskOptions } from "./extensions/tasks/task-options.js";
export { tasks } from "./extensions/tasks/tasks.js";
export type { TaskPolicy, TaskSupport } from "./server/contract/tool.js";
