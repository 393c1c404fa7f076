import { isObject } from "../../jsonrpc/message.js";
import {
  type Checked,
  checkCallToolResult,
  checkCompleteResult,
  checkGetPromptResult,
  checkReadResourceResult,
} from "../../protocol/checks/results.js";
import { McpError } from "../../protocol/error.js";
import { neutralMessage } from "../../server/call/call-failure.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { FAILURE } from "../../server/tools/result.js";
import { hiddenReference } from "./passed-error.js";

const CHECKS: Readonly<Record<string, (result: unknown) => Checked<object>>> = {
  "tools/call": checkCallToolResult,
  "prompts/get": checkGetPromptResult,
  "resources/read": checkReadResourceResult,
  "completion/complete": checkCompleteResult,
};

/**
 * A result of a server as its caller gets it: in the form of the protocol, and without the text of an unexpected error where the
 * caller may be a stranger. Throws `invalid_response` for a result that cannot be read.
 */
export function passedResult(result: object, call: ServerCall, server: string): object {
  const { method } = call.request;
  const { resultType } = result as { resultType?: unknown };
  // Results of other types are those of extensions, which know their form.
  if (resultType !== undefined && resultType !== "complete") return result;
  const checked = CHECKS[method]?.(result);
  if (checked === undefined) return result;
  if (checked.result === undefined) {
    throw new McpError("invalid_response", `the result of ${method} is malformed: ${checked.problems.join("; ")}`, {
      data: { server, problems: checked.problems },
    });
  }
  for (const problem of checked.problems) {
    call.facts.warnOnce(`the server "${server}" behind the gateway, result of ${method}: ${problem}`);
  }
  return method === "tools/call" ? maskedResult(checked.result, call) : checked.result;
}

function maskedResult(result: object, call: ServerCall): object {
  const { isError, _meta: meta } = result as { isError?: unknown; _meta?: unknown };
  const reference = isError === true && isObject(meta) ? hiddenReference(call, meta[FAILURE]) : undefined;
  if (reference === undefined) return result;
  return { content: [{ type: "text", text: neutralMessage(reference) }], isError: true, _meta: meta };
}
