import type { Principal } from "../../http/authentication.js";
import type { Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import { featuresOf, type Revision } from "../../protocol/revisions.js";
import type { Call } from "../era.js";
import { statefulServer } from "../stateful/server.js";
import { statelessServer } from "../stateless/server.js";

/** The JSON form of a request, with which another process can run the request again. */
export interface StoredCall {
  method: string;
  params: Params;
  revision: Revision;
  clientInfo?: Implementation | undefined;
  clientCapabilities: ClientCapabilities;
  /** The caller's identity without `claims`, which may contain secrets. */
  principal?: Omit<Principal, "claims"> | undefined;
  /** True if the sender may be untrusted. Messages of unexpected errors are hidden from such senders. */
  remote: boolean;
}

/** Converts a request to its stored form. */
export function storedCall(call: Call, principal: Principal | undefined, remote: boolean): StoredCall {
  const { method, params, revision, clientInfo, clientCapabilities } = call;
  const { inputResponses: _answers, requestState: _state, ...kept } = params;
  const stored: StoredCall = { method, params: kept, revision, clientInfo, clientCapabilities, remote };
  if (principal === undefined) return stored;
  const { claims: _claims, ...identity } = principal;
  return { ...stored, principal: identity };
}

/**
 * Restores a stored request. The restored request has no session, progress token or log level, so its client receives
 * only stored messages.
 */
export function restoredCall(stored: StoredCall, id: string): Call {
  const { method, params, revision, clientInfo, clientCapabilities } = stored;
  return {
    id,
    method,
    params,
    era: featuresOf(revision).era === "stateful" ? statefulServer : statelessServer,
    revision,
    clientInfo,
    clientCapabilities,
    progressToken: undefined,
    logLevel: undefined,
    inputs: undefined,
    eraResult: undefined,
    session: undefined,
    wrapsOutput: false,
  };
}
