import type { Principal } from "../../http/authentication.js";
import type { Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import { featuresOf, type Revision } from "../../protocol/revisions.js";
import type { Call } from "../era.js";
import { statefulServer } from "../stateful/server.js";
import { statelessServer } from "../stateless/server.js";

/** A request as JSON: what another process needs to run it again. */
export interface StoredCall {
  method: string;
  params: Params;
  revision: Revision;
  clientInfo?: Implementation | undefined;
  clientCapabilities: ClientCapabilities;
  /** Without `claims`, which may hold what must not be stored. */
  principal?: Omit<Principal, "claims"> | undefined;
  /** Whether the sender may be a stranger, who must not see messages of unexpected errors. */
  remote: boolean;
}

/** What is stored of a request. */
export function storedCall(call: Call, principal: Principal | undefined, remote: boolean): StoredCall {
  const { method, params, revision, clientInfo, clientCapabilities } = call;
  const { inputResponses: _answers, requestState: _state, ...kept } = params;
  const stored: StoredCall = { method, params: kept, revision, clientInfo, clientCapabilities, remote };
  if (principal === undefined) return stored;
  const { claims: _claims, ...identity } = principal;
  return { ...stored, principal: identity };
}

/** The request that was stored. It has no session, and its client hears nothing but what is kept for it. */
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
    own: undefined,
    session: undefined,
    wrapsOutput: false,
  };
}
