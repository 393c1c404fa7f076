import { taskRequired } from "../../era/task-shape.js";
import { isObject } from "../../jsonrpc/message.js";
import { type ErrorKind, McpError } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/task-methods.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { OfferNames } from "../../server/mount/mounted-names.js";
import { toErrorResult } from "../../server/tools/result.js";

/** Failures between the host and a server: they tell of commands, output, addresses and credentials of the host. */
const INTERNAL: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "connection_closed",
  "connect_failed",
  "session_lost",
  "transport_error",
  "authorization_failed",
  "auth_required",
  "insufficient_scope",
]);

/**
 * What the caller gets for an error of the server: the same, in the form of the caller's revision and with the names that the
 * caller knows. Throws it, or gives the result that stands for it.
 */
export function passedError(error: unknown, call: ServerCall, server: string, names: OfferNames | undefined): object {
  if (!McpError.is(error)) throw error;
  if (!error.remote) throw INTERNAL.has(error.kind) ? unreached(error, server) : error;
  const { method } = call.request;
  const { kind, message, code, data } = error;
  if (isTaskRequired(error)) throw taskRequired(String(call.request.params["name"]), call.request);
  if (kind === "capability_missing") {
    // The server was told what the caller declares, so that it is this caller who lacks it.
    const own = new McpError(kind, message, { data });
    if (method === "tools/call") return toErrorResult(own, call);
    throw own;
  }
  const uri = isObject(data) && typeof data["uri"] === "string" ? data["uri"] : undefined;
  if (uri === undefined) throw error;
  const outer = { ...(data as object), uri: names?.uri(uri) ?? uri };
  // Newer revisions have no code of their own for it, but data that names the resource and nothing else.
  const namesOnly = method === "resources/read" && Object.keys(outer).length === 1;
  if (kind === "resource_not_found" || (kind === "invalid_params" && namesOnly))
    throw new McpError("resource_not_found", message, { data: outer });
  throw new McpError(kind, message, { code, data: outer });
}

function unreached(cause: McpError, server: string): McpError {
  return new McpError(
    cause.kind,
    `the server "${server}" behind this gateway is not available, or ended before its answer`,
    {
      cause,
      data: { server },
      fix: "The call may or may not have run, so repeat it only if that is safe.",
    },
  );
}

/** Whether a server refused a call because it runs as a task only. */
export function isTaskRequired(error: unknown): boolean {
  if (!McpError.is(error) || error.kind !== "capability_missing" || !isObject(error.data)) return false;
  const { requiredCapabilities: required } = error.data;
  return isObject(required) && isObject(required["extensions"]) && Object.hasOwn(required["extensions"], TASKS.id);
}
