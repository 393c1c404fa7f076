import { RpcError } from "../../jsonrpc/error.js";
import { checkInitializeResult } from "../../protocol/checks/results.js";
import { McpError } from "../../protocol/error.js";
import type { InitializeResult } from "../../protocol/lifecycle.js";
import { isRevision, REVISIONS, type Revision } from "../../protocol/revisions.js";
import { statefulClient, versionHeaders } from "../stateful/client.js";
import type { Attempt, NegotiationResult } from "./negotiation.js";
import { refusedHandshake, supportedBy } from "./refusal.js";

/**
 * Performs the handshake of the stateful era. Requests the first revision in `among`, and accepts every revision in
 * `among`.
 *
 * Spec: Lifecycle, "Initialization",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
export async function performHandshake(attempt: Attempt, among: readonly Revision[]): Promise<NegotiationResult> {
  const { transport, methods, self, resultTypes } = attempt.negotiation;
  const [preferred] = among;
  if (preferred === undefined)
    throw new McpError("unsupported_version", "the option `revisions` does not list a published revision", {
      fix: `List at least one of ${REVISIONS.join(", ")}, or leave the option out.`,
    });
  const result = await initialize(attempt, among, preferred);
  const revision = result.protocolVersion;
  if (!isRevision(revision) || !among.includes(revision)) {
    throw new McpError(
      "unsupported_version",
      `${transport.target} chose protocol version "${revision}", which this client does not allow`,
      {
        data: { supported: [revision] },
        fix: "Add this revision to the `revisions` option, if it is a published one.",
      },
    );
  }
  const era = statefulClient(revision, self(revision), methods, resultTypes);
  const established = {
    era,
    serverInfo: result.serverInfo,
    capabilities: result.capabilities,
    instructions: result.instructions,
  };
  // The probe may have succeeded meanwhile. The connection then uses the stateless era, so the handshake sends nothing
  // more.
  if (attempt.decided) return established;
  attempt.negotiation.onNegotiated?.(established);
  transport.established?.({ headers: versionHeaders(revision), hasSessions: true });
  await transport.notify(era.notification("notifications/initialized", undefined));
  return established;
}

async function initialize(
  attempt: Attempt,
  among: readonly Revision[],
  requested: Revision,
  mayRetry = true,
): Promise<InitializeResult> {
  const { transport, methods, self, nextId } = attempt.negotiation;
  const client = self(requested);
  const opening = statefulClient(requested, { ...client, headers: false }, methods);
  const params = { protocolVersion: requested, capabilities: client.capabilities, clientInfo: client.info };
  let answer: unknown;
  try {
    answer = await transport.request(opening.encode(nextId(), { method: "initialize", params }));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const supported = supportedBy(error);
    const other = among.find((revision) => revision !== requested && supported.includes(revision));
    if (other !== undefined && mayRetry) return initialize(attempt, among, other, false);
    throw refusedHandshake(error, transport.target);
  }
  const { result, problems } = checkInitializeResult(answer);
  if (result !== undefined) return result;
  throw new McpError(
    "invalid_response",
    `${transport.target} sent an invalid answer to \`initialize\`: ${problems.join("; ")}`,
    { fix: "Check that this is the address of an MCP server; if it is, report this to its authors." },
  );
}
