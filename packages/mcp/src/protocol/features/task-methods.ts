import type { Extension } from "../extension.js";
import type { MethodRow } from "../methods.js";
import type { TaskStatus } from "./tasks.js";

const EXPERIMENTAL = "2025-11-25";
const EXTENSION = "2026-07-28";

function request(method: string, rest: Partial<MethodRow>): MethodRow {
  return { method, kind: "request", sender: "client", first: EXPERIMENTAL, ...rest };
}

/**
 * What both sides declare of tasks. In the revision before the extension they are a part of the protocol, with capabilities of
 * their own.
 *
 * Spec: Tasks extension, https://modelcontextprotocol.io/extensions/tasks/overview
 */
export const TASKS = {
  id: "io.modelcontextprotocol/tasks",
  settings: {},
  first: EXTENSION,
  methods: [
    request("tasks/get", { nameField: "taskId", idempotent: true }),
    request("tasks/cancel", { nameField: "taskId", idempotent: true }),
    request("tasks/update", { first: EXTENSION, nameField: "taskId", idempotent: true }),
    request("tasks/result", { last: EXPERIMENTAL, idempotent: true }),
    request("tasks/list", { last: EXPERIMENTAL, idempotent: true }),
    { method: "notifications/tasks", kind: "notification", sender: "server", first: EXTENSION },
    {
      method: "notifications/tasks/status",
      kind: "notification",
      sender: "both",
      first: EXPERIMENTAL,
      last: EXPERIMENTAL,
    },
  ],
  resultTypes: ["task"],
  listenFilters: ["taskIds"],
} as const satisfies Extension;

/** Whether a task with this status is over. */
export function isFinalStatus(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
