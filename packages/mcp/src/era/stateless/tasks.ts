import { McpError } from "../../protocol/error.js";
import { declaresExtension, requireExtension } from "../../protocol/extension.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { TaskDialect } from "../task-shape.js";
import { DOWNGRADES } from "./downgrade.js";

/**
 * Tasks as an extension: clients declare that they take them, and the server decides which calls become one.
 *
 * Spec: Tasks extension, https://modelcontextprotocol.io/extensions/tasks/overview
 */
export const STATELESS_TASKS: TaskDialect = {
  declared: true,
  requested: false,
  pushed: false,
  refusesLateCancel: false,
  capabilities: {},
  answerCapabilities: () => ({}),
  wanted: ({ clientCapabilities }) => (declaresExtension(clientCapabilities, TASKS.id) ? {} : undefined),
  require: (call) => requireExtension(call, TASKS.id),
  required: (tool) =>
    new McpError("capability_missing", `the tool "${tool}" runs as a task only`, {
      data: { requiredCapabilities: { extensions: { [TASKS.id]: {} } } },
      fix: "Connect with a client that declares the extension.",
    }),
  wantedAnswer: () => undefined,
  asksByTask: () => false,
  created: (task) => task,
  shown: (task) => task,
  cancelled: () => ({}),
  // Spec: Base Protocol, "Results": every result says of what kind it is, and so does one inside a task.
  stored(result, { method, revision }) {
    const plain = JSON.parse(JSON.stringify(result)) as Record<string, unknown>;
    return { ...(DOWNGRADES[revision]?.result(method, plain) ?? plain), resultType: "complete" };
  },
};
