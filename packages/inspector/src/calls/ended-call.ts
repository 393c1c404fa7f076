import { McpError } from "@parley/mcp/protocol";
import type { CallStatus } from "../contract/calls.js";
import type { ShownProblem } from "../contract/connections.js";
import { isRecord } from "../engine/read-input.js";
import { shownProblem } from "../engine/shown-problem.js";
import { jsonBytes } from "./json-bytes.js";

/** How a call ended, without what it was. */
export interface EndedCall {
  readonly status: Exclude<CallStatus, "running">;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly problem?: ShownProblem | undefined;
  /** Bytes of the result as JSON. */
  readonly bytes: number;
  /** Bytes of all that is kept of it. */
  readonly held: number;
}

/** The end of a call that has a result; that of a tool may say that it failed. */
export function endedWell(given: object): EndedCall {
  // Any object that came as JSON is a record.
  const result = given as Readonly<Record<string, unknown>>;
  const bytes = jsonBytes(result);
  return { status: result["isError"] === true ? "failed" : "done", result, bytes, held: bytes };
}

/** The end of a call that failed. A result that the client refused is shown beside the reason. */
export function endedWith(error: unknown): EndedCall {
  const { kind, message, fix, data } = McpError.from(error);
  if (!isRecord(data) || !isRecord(data["result"])) {
    const problem = shownProblem(error);
    return { status: kind === "cancelled" ? "cancelled" : "failed", problem, bytes: 0, held: jsonBytes(problem) };
  }
  const { result, ...others } = data;
  const problem = shownProblem(new McpError(kind, message, { fix, data: others }));
  const bytes = jsonBytes(result);
  return { status: "failed", result, problem, bytes, held: bytes + jsonBytes(problem) };
}

/** The same end without what is too large to be kept. */
export function withinBytes(ended: EndedCall, limit: number): EndedCall {
  const { status, problem, bytes, held } = ended;
  if (held <= limit) return ended;
  const { message, fix, kind } = problem ?? {
    kind: "limit_exceeded",
    message: `the result has ${bytes} bytes, and the inspector keeps ${limit} bytes of results`,
    fix: "Ask for less at once; the timeline has the beginning of the result.",
  };
  return { status, problem: { message, fix, kind }, bytes, held: 0 };
}
