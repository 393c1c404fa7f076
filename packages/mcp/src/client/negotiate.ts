import type { ClientEra, ClientSelf, EncodedMessage } from "../era/era.js";
import { statefulClient, versionHeaders } from "../era/stateful/client.js";
import { statelessClient } from "../era/stateless/client.js";
import { RpcError } from "../jsonrpc/error.js";
import { type Id, isObject } from "../jsonrpc/message.js";
import type { Platform } from "../platform/platform.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import { HEADER_MISMATCH, McpError, MISSING_CAPABILITY, UNSUPPORTED_VERSION } from "../protocol/error.js";
import type { Implementation } from "../protocol/implementation.js";
import { META } from "../protocol/meta.js";
import type { MethodTable } from "../protocol/methods.js";
import { checkDiscoverResult, checkInitializeResult } from "../protocol/results.js";
import { isRevision, type Revision, revisionsOf } from "../protocol/revisions.js";
import { httpStatusOf } from "../transport/http/client-failure.js";
import type { Transport } from "../transport/transport.js";

/** What is known of a server once its era is found. */
export interface Established {
  era: ClientEra;
  serverInfo: Implementation | undefined;
  capabilities: ServerCapabilities;
  instructions: string | undefined;
}

/** What finding the era needs. */
export interface Negotiation {
  transport: Transport;
  self: ClientSelf;
  methods: MethodTable;
  resultTypes: readonly string[];
  revisions: readonly Revision[];
  prior: Revision | undefined;
  platform: Platform;
  nextId(): Id;
}

/** How long a server on a pipe may be silent before it is greeted in the older way too. */
const SILENCE_MS = 1000;

/** Finds the revision that both sides speak, and opens the dialogue in it. */
export async function negotiate(n: Negotiation): Promise<Established> {
  const stateless = revisionsOf("stateless", n.revisions);
  const stateful = revisionsOf("stateful", n.revisions);
  if (n.prior !== undefined && stateful.includes(n.prior)) return handshake(n, [n.prior]);
  const first = n.prior !== undefined && stateless.includes(n.prior) ? n.prior : stateless[0];
  if (first === undefined) return handshake(n, stateful);
  const probing = probe(n, first, stateless, stateful);
  if (n.transport.kind === "http" || stateful.length === 0) return probing;
  return eitherWay(n, probing, stateful);
}

/** After a silence the handshake is tried as well, and the first valid answer decides. */
function eitherWay(n: Negotiation, probing: Promise<Established>, stateful: readonly Revision[]): Promise<Established> {
  return new Promise((resolve, reject) => {
    let greeted: Promise<Established> | undefined;
    const timer = n.platform.timer(SILENCE_MS, () => {
      greeted = handshake(n, stateful);
      greeted.then(resolve, () => {});
    });
    probing.then(
      (established) => {
        timer.cancel();
        resolve(established);
      },
      (error) => {
        timer.cancel();
        if (greeted === undefined) reject(error);
        else greeted.catch(reject);
      },
    );
  });
}

async function probe(
  n: Negotiation,
  revision: Revision,
  stateless: readonly Revision[],
  stateful: readonly Revision[],
): Promise<Established> {
  const era = statelessClient(revision, n.self, n.methods, n.resultTypes);
  let answer: unknown;
  try {
    answer = await n.transport.request(era.encode(n.nextId(), { method: "server/discover", params: undefined }));
  } catch (error) {
    return afterRefusal(n, error, revision, stateless, stateful);
  }
  const { result } = checkDiscoverResult(answer);
  if (result === undefined) return orHandshake(n, stateful, "it answered `server/discover` with something else");
  const shared = stateless.find((candidate) => result.supportedVersions.includes(candidate));
  if (shared === undefined) return speaksOther(n, result.supportedVersions, stateful);
  const info = result._meta?.[META.serverInfo];
  n.transport.established?.({ headers: {}, stateful: false });
  return {
    era: shared === revision ? era : statelessClient(shared, n.self, n.methods, n.resultTypes),
    serverInfo: info,
    capabilities: result.capabilities,
    instructions: result.instructions,
  };
}

/** Reads a refusal of the probe: proof of the newer era, proof of the older one, or no verdict at all. */
function afterRefusal(
  n: Negotiation,
  error: unknown,
  asked: Revision,
  stateless: readonly Revision[],
  stateful: readonly Revision[],
): Promise<Established> {
  if (error instanceof RpcError) {
    if (error.code === UNSUPPORTED_VERSION) {
      const supported = isObject(error.data) && Array.isArray(error.data["supported"]) ? error.data["supported"] : [];
      const other = stateless.find((revision) => revision !== asked && supported.includes(revision));
      if (other !== undefined) return probe(n, other, [other], stateful);
      return speaksOther(n, supported, stateful);
    }
    if (error.code === HEADER_MISMATCH || error.code === MISSING_CAPABILITY) throw error;
    return orHandshake(n, stateful, `it answered the probe with error ${error.code}: ${error.message}`);
  }
  const status = httpStatusOf(error);
  // Authorization, overload and faults of the server say nothing about what it speaks.
  const silent = status === undefined || status === 401 || status === 403 || status === 429 || status >= 500;
  const noVerdict = silent && !(McpError.is(error) && error.kind === "invalid_response");
  if (noVerdict) throw error;
  return orHandshake(n, stateful, `it answered the probe with HTTP ${status ?? "200"}`);
}

function speaksOther(
  n: Negotiation,
  supported: readonly unknown[],
  stateful: readonly Revision[],
): Promise<Established> {
  const shared = stateful.filter((revision) => supported.includes(revision));
  if (shared.length > 0) return handshake(n, shared);
  throw new McpError(
    "unsupported_version",
    `${n.transport.target} speaks ${supported.join(", ") || "no revision known here"}`,
    {
      data: { supported },
      fix: "Allow one of these revisions by the `revisions` option, or update one of the two sides.",
    },
  );
}

function orHandshake(n: Negotiation, stateful: readonly Revision[], why: string): Promise<Established> {
  if (stateful.length > 0) return handshake(n, stateful);
  throw new McpError("unsupported_version", `${n.transport.target} does not speak ${n.revisions.join(", ")}: ${why}`, {
    fix: "Allow older revisions by the `revisions` option.",
  });
}

/** The handshake of the older era. */
export async function handshake(n: Negotiation, stateful: readonly Revision[]): Promise<Established> {
  const newest = stateful[0];
  if (newest === undefined)
    throw new McpError("unsupported_version", "no revision is allowed", { fix: "Change `revisions`." });
  const opening = statefulClient(newest, { ...n.self, headers: false });
  const params = { protocolVersion: newest, capabilities: n.self.capabilities, clientInfo: n.self.info };
  const answer = await n.transport.request(opening.encode(n.nextId(), { method: "initialize", params }));
  const { result, problems } = checkInitializeResult(answer);
  if (result === undefined) {
    throw new McpError(
      "invalid_response",
      `${n.transport.target} answered \`initialize\` wrongly: ${problems.join("; ")}`,
    );
  }
  const revision = result.protocolVersion;
  if (!isRevision(revision) || !stateful.includes(revision)) {
    throw new McpError("unsupported_version", `${n.transport.target} chose protocol version "${revision}"`, {
      data: { supported: [revision] },
      fix: "Allow this revision by the `revisions` option, if it is a published one.",
    });
  }
  const era = statefulClient(revision, n.self);
  n.transport.established?.({ headers: versionHeaders(revision), stateful: true });
  const initialized: EncodedMessage = era.notice("notifications/initialized", undefined);
  await n.transport.notify(initialized);
  return { era, serverInfo: result.serverInfo, capabilities: result.capabilities, instructions: result.instructions };
}
