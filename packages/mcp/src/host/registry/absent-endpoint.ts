import { accepting } from "../../era/select/accepting.js";
import { McpError } from "../../protocol/error.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import type { Endpoint } from "../../transport/transport.js";

/**
 * Stands where there is no server: refuses every request. The status tells HTTP clients whether one may come: 503, which
 * leaves their sessions alone, or 404.
 */
export function absentEndpoint(why: string, status: 404 | 503): Endpoint {
  const kind = status === 404 ? "invalid_request" : "internal_error";
  return {
    accept: accepting(CORE_TABLE),
    request: ({ message, era }) => ({ ...era.refusal(message.id, new McpError(kind, why)), status }),
    notification() {},
    opened() {},
    closed() {},
  };
}
