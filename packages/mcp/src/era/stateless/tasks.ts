import { McpError } from "../../protocol/error.js";
import { declaresExtension, requireExtension } from "../../protocol/extension.js";
import { TASKS } from "../../protocol/features/tasks.js";
import type { TaskDialect } from "../task-shape.js";
import { DOWNGRADES } from "./downgrade.js";

/**
 * Tasks as an extension: clients declare support, and the server decides which calls become tasks.
 *
 * Spec: Tasks extension, https://modelcontextprotocol.io/extensions/tasks/overview
 */
export const STATELESS_TASKS: TaskDialect = {
  clientsDeclare: true,
  callsRequest: false,
  pushes: false,
  refusesLateCancel: false,
  capabilities: {},
  answerCapabilities: () => ({}),
  requestedTask: ({ clientCapabilities }) => (declaresExtension(clientCapabilities, TASKS.id) ? {} : undefined),
  checkCaller: (call) => requireExtension(call, TASKS.id),
  taskRequiredError: (tool) =>
    new McpError("capability_missing", `the tool "${tool}" can only run as a task`, {
      data: { requiredCapabilities: { extensions: { [TASKS.id]: {} } } },
      fix: `Connect with a client that declares the Tasks extension (${TASKS.id}).`,
    }),
  requestedAnswerTask: () => undefined,
  asksByTask: () => false,
  createdResult: (task) => task,
  encode: (task) => task,
  cancelResult: () => ({}),
  // Every result states its type, including a result inside a task. Spec: Base Protocol, "Results".
  storedResult(result, { method, revision }) {
    const plain = JSON.parse(JSON.stringify(result)) as Record<string, unknown>;
    return { ...(DOWNGRADES[revision]?.result(method, plain) ?? plain), resultType: "complete" };
  },
};
