import type { ActionHandlers } from "../contract/actions.js";
import type { CallRequest } from "../contract/calls.js";
import { choiceOf, optionalFlagOf, recordOf, textOf, textsOf } from "../engine/read-input.js";
import type { ConnectionFinder } from "./callable-connection.js";
import type { RunningCalls } from "./running-calls.js";

const KINDS = ["tool", "prompt", "resource", "skill", "request"] as const satisfies readonly CallRequest["kind"][];

/** Creates the actions for calls. */
export function callActions(
  calls: RunningCalls,
  connections: ConnectionFinder,
): Pick<ActionHandlers, "call" | "cancelCall" | "outcome"> {
  return {
    call: (input) => {
      const request = readCallRequest(recordOf(input, "request"));
      return { call: calls.start(connections.get(textOf(input, "connection")), request) };
    },
    cancelCall: (input) => {
      calls.cancel(textOf(input, "call"));
      return {};
    },
    outcome: (input) => calls.outcome(textOf(input, "call")),
  };
}

/** Reads a request that the page sent. Throws `invalid_params` if it is invalid. */
export function readCallRequest(input: object): CallRequest {
  const kind = choiceOf(input, "kind", KINDS);
  switch (kind) {
    case "tool": {
      const asTask = optionalFlagOf(input, "asTask");
      const called = { kind, name: textOf(input, "name"), arguments: recordOf(input, "arguments") };
      return asTask === undefined ? called : { ...called, asTask };
    }
    case "prompt":
      return { kind, name: textOf(input, "name"), arguments: textsOf(input, "arguments") };
    case "resource":
      return { kind, uri: textOf(input, "uri") };
    case "skill":
      return { kind, name: textOf(input, "name") };
    case "request":
      return { kind, method: textOf(input, "method"), params: recordOf(input, "params") };
  }
}
