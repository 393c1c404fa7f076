import { accepting } from "../../era/accepting.js";
import { McpError } from "../../protocol/error.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import type { Endpoint } from "../../transport/transport.js";

/**
 * Stands where there is no server: refuses every request. The status tells HTTP clients whether one may come: 503, which
 * leaves their sessions alone, or 404.
 */
export function absentEndpoint(name: string | undefined, status: 404 | 503): Endpoint {
  const which = name === undefined ? "the request names no server" : `no server is registered as "${name}"`;
  const kind = status === 404 ? "invalid_request" : "internal_error";
  return {
    accept: accepting(CORE_TABLE),
    request({ message, era }) {
      const error = new McpError(kind, `${which} ${status === 404 ? "here" : "at the moment"}`);
      return { ...era.refusal(message.id, error), status };
    },
    notification() {},
    opened() {},
    closed() {},
  };
}
