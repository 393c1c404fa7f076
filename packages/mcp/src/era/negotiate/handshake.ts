import { RpcError } from "../../jsonrpc/error.js";
import { McpError } from "../../protocol/error.js";
import type { InitializeResult } from "../../protocol/lifecycle.js";
import { checkInitializeResult } from "../../protocol/results.js";
import { isRevision, REVISIONS, type Revision } from "../../protocol/revisions.js";
import { statefulClient, versionHeaders } from "../stateful/client.js";
import type { Attempt, Established } from "./negotiation.js";
import { refusedHandshake, supportedBy } from "./refusal.js";

/** The handshake of the older era: asks for the first of `among`, and takes any of them. */
export async function performHandshake(attempt: Attempt, among: readonly Revision[]): Promise<Established> {
  const { transport, methods, self } = attempt.negotiation;
  const [wanted] = among;
  if (wanted === undefined)
    throw new McpError("unsupported_version", "the option `revisions` names no published revision", {
      fix: `Name some of ${REVISIONS.join(", ")}, or leave the option out.`,
    });
  const result = await initialize(attempt, among, wanted);
  const revision = result.protocolVersion;
  if (!isRevision(revision) || !among.includes(revision)) {
    throw new McpError("unsupported_version", `${transport.target} chose protocol version "${revision}"`, {
      data: { supported: [revision] },
      fix: "Allow this revision by the `revisions` option, if it is a published one.",
    });
  }
  const era = statefulClient(revision, self(revision), methods);
  const established = {
    era,
    serverInfo: result.serverInfo,
    capabilities: result.capabilities,
    instructions: result.instructions,
  };
  // An answer after another one has decided changes nothing any more.
  if (attempt.decided) return established;
  transport.established?.({ headers: versionHeaders(revision), hasSessions: true });
  await transport.notify(era.notice("notifications/initialized", undefined));
  return established;
}

async function initialize(
  attempt: Attempt,
  among: readonly Revision[],
  wanted: Revision,
  mayRetry = true,
): Promise<InitializeResult> {
  const { transport, methods, self, nextId } = attempt.negotiation;
  const client = self(wanted);
  const opening = statefulClient(wanted, { ...client, headers: false }, methods);
  const params = { protocolVersion: wanted, capabilities: client.capabilities, clientInfo: client.info };
  let answer: unknown;
  try {
    answer = await transport.request(opening.encode(nextId(), { method: "initialize", params }));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const supported = supportedBy(error);
    const other = among.find((revision) => revision !== wanted && supported.includes(revision));
    if (other !== undefined && mayRetry) return initialize(attempt, among, other, false);
    throw refusedHandshake(error, transport.target);
  }
  const { result, problems } = checkInitializeResult(answer);
  if (result !== undefined) return result;
  throw new McpError(
    "invalid_response",
    `${transport.target} answered \`initialize\` wrongly: ${problems.join("; ")}`,
    { fix: "Check that the address leads to an MCP server; if it does, report this to its author." },
  );
}
