import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError } from "../../jsonrpc/error.js";
import { RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION } from "../../protocol/error.js";
import { httpStatusOf } from "../../protocol/http-failure.js";
import { featuresOf, type Revision } from "../../protocol/revisions.js";
import { isModernError, supportedBy } from "./refusal.js";

/** What servers with sessions answer to a request without one. */
const NO_SESSION = [INVALID_REQUEST, -32000, -32001];
/** Codes with another meaning as well; they count only while nothing else is known of the server. */
const PERHAPS_NO_SESSION = [METHOD_NOT_FOUND, INVALID_PARAMS, RESOURCE_NOT_FOUND];

/**
 * The revisions to negotiate among when an error shows that the server does not support `spoken`, or no longer: it was
 * changed, or what was remembered of it was wrong. Undefined when the error shows nothing of the kind. `proved`: the server
 * has answered in this revision before.
 *
 * Spec: Versioning, "Protocol Version Negotiation",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
 */
export function revisionsInstead(
  error: unknown,
  spoken: Revision,
  allowed: readonly Revision[],
  proved: boolean,
): readonly Revision[] | undefined {
  const code = error instanceof RpcError ? error.code : undefined;
  if (error instanceof RpcError && code === UNSUPPORTED_VERSION) {
    const supported = supportedBy(error);
    const shared = allowed.filter((revision) => revision !== spoken && supported.includes(revision));
    return shared.length === 0 ? undefined : shared;
  }
  if (featuresOf(spoken).era === "stateful") return isModernError(error) ? allowed : undefined;
  const status = httpStatusOf(error);
  const refused =
    code === undefined
      ? status === 400 || status === 404 || status === 405
      : NO_SESSION.includes(code) || (!proved && PERHAPS_NO_SESSION.includes(code));
  return refused ? allowed : undefined;
}
