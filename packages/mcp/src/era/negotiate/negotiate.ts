import { RpcError } from "../../jsonrpc/error.js";
import { checkDiscoverResult, checkImplementation } from "../../protocol/checks/results.js";
import { McpError, UNSUPPORTED_VERSION } from "../../protocol/error.js";
import { httpStatusOf } from "../../protocol/http-failure.js";
import type { DiscoverResult } from "../../protocol/lifecycle.js";
import { META } from "../../protocol/meta.js";
import { type Revision, revisionsOf } from "../../protocol/revisions.js";
import type { ClientEra } from "../era.js";
import { statelessClient } from "../stateless/client.js";
import { performHandshake } from "./handshake.js";
import type { Attempt, Negotiation, NegotiationResult, Prior } from "./negotiation.js";
import {
  failedServer,
  isModernError,
  mayRestart,
  ProbeLost,
  refusedProbe,
  revealsEra,
  supportedBy,
} from "./refusal.js";

/**
 * Time in milliseconds to wait for the answer to the probe on a pipe. After that, the handshake is sent as well.
 *
 * Spec: stdio, "Backward Compatibility",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility
 */
const SILENCE_MS = 1000;

/**
 * Finds a revision that both sides support, and opens the connection in it.
 *
 * Spec: Versioning, "Backward Compatibility with Initialization-Based Versions",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
export async function negotiate(negotiation: Negotiation): Promise<NegotiationResult> {
  const { revisions, skipProbe, transport } = negotiation;
  const attempt: Attempt = {
    negotiation,
    stateless: revisionsOf("stateless", revisions),
    stateful: revisionsOf("stateful", revisions),
    decided: false,
  };
  const { stateless, stateful } = attempt;
  const prior = negotiation.prior?.revision;
  if (skipProbe && stateful.length > 0) return handshakeOnce(attempt);
  if (prior !== undefined && stateful.includes(prior)) {
    try {
      return await handshakeOnce(attempt, [prior, ...stateful.filter((revision) => revision !== prior)]);
    } catch (error) {
      if (stateless.length === 0 || !revealsEra(error)) throw error;
      // `prior` is outdated: probe the server.
      delete attempt.handshake;
    }
  }
  const first = prior !== undefined && stateless.includes(prior) ? prior : stateless[0];
  if (first === undefined) return handshakeOnce(attempt);
  if (first === prior && negotiation.prior?.capabilities !== undefined) {
    return fromPrior(negotiation, first, negotiation.prior);
  }
  if (transport.kind === "http" || stateful.length === 0) return probe(attempt, first);
  return probeAndHandshake(attempt, first);
}

function handshakeOnce(attempt: Attempt, among: readonly Revision[] = attempt.stateful): Promise<NegotiationResult> {
  attempt.handshake ??= performHandshake(attempt, among);
  return attempt.handshake;
}

/**
 * Sends the probe and, after `SILENCE_MS`, also starts the handshake, because some servers ignore a probe. The first
 * valid answer decides.
 */
function probeAndHandshake(attempt: Attempt, revision: Revision): Promise<NegotiationResult> {
  return new Promise<NegotiationResult>((resolve, reject) => {
    const timer = attempt.negotiation.platform.timer(
      SILENCE_MS,
      () => {
        handshakeOnce(attempt).then(resolve, () => {});
      },
      true,
    );
    probe(attempt, revision)
      .then(resolve, (error) => {
        if (attempt.handshake === undefined) reject(error);
        else attempt.handshake.catch(() => reject(error));
      })
      .finally(() => timer.cancel());
  }).finally(() => {
    attempt.decided = true;
  });
}

/** Uses the application's `prior` and sends nothing. */
function fromPrior(negotiation: Negotiation, revision: Revision, prior: Prior): NegotiationResult {
  negotiation.transport.established?.({ headers: {}, hasSessions: false });
  return {
    era: statelessEra(negotiation, revision),
    serverInfo: prior.serverInfo,
    capabilities: prior.capabilities ?? {},
    instructions: prior.instructions,
  };
}

function statelessEra({ self, methods, resultTypes }: Negotiation, revision: Revision): ClientEra {
  return statelessClient(revision, self(revision), methods, resultTypes);
}

async function probe(attempt: Attempt, revision: Revision): Promise<NegotiationResult> {
  const { negotiation, stateless } = attempt;
  const { transport } = negotiation;
  const era = statelessEra(negotiation, revision);
  let answer: unknown;
  try {
    answer = await transport.request(
      era.encode(negotiation.nextId(), { method: "server/discover", params: undefined }),
    );
  } catch (error) {
    return afterRefusal(attempt, error, revision);
  }
  const { result } = checkDiscoverResult(answer);
  if (result === undefined) return fallBackToHandshake(attempt, "its answer to `server/discover` is not valid");
  const shared = stateless.find((candidate) => result.supportedVersions.includes(candidate));
  if (shared === undefined) return handshakeInStatedRevision(attempt, result.supportedVersions);
  transport.established?.({ headers: {}, hasSessions: false });
  return discovered(shared === revision ? era : statelessEra(negotiation, shared), result);
}

function discovered(era: ClientEra, result: DiscoverResult): NegotiationResult {
  return {
    era,
    serverInfo: checkImplementation(result._meta?.[META.serverInfo]).result,
    capabilities: result.capabilities,
    instructions: result.instructions,
  };
}

/**
 * Decides how to continue after a failed probe. The error may prove the stateless era, the stateful era, or neither.
 *
 * Spec: Versioning, "Protocol Version Negotiation",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
 */
function afterRefusal(attempt: Attempt, error: unknown, probed: Revision): Promise<NegotiationResult> {
  if (error instanceof RpcError) {
    if (error.code === UNSUPPORTED_VERSION) {
      const supported = supportedBy(error);
      const shared = attempt.stateless.filter((revision) => supported.includes(revision));
      // Some servers reject a version that they list as supported. One more probe settles the contradiction.
      const next = shared.find((revision) => revision !== probed) ?? shared[0];
      if (next !== undefined && attempt.retried !== true)
        return probe({ ...attempt, stateless: shared, retried: true }, next);
      // Without a list of versions, only the handshake remains.
      return supported.length === 0
        ? fallBackToHandshake(attempt, error.message)
        : handshakeInStatedRevision(attempt, supported);
    }
    if (isModernError(error)) throw error;
    const failed = failedServer(error);
    // Some servers with sessions answer an unknown method with 500, so after a 500 the handshake may still succeed.
    if (failed !== undefined && (httpStatusOf(error) !== 500 || attempt.stateful.length === 0)) throw failed;
    const refused = attempt.stateful.length === 0 && refusedProbe(error, attempt.negotiation.transport.target);
    if (refused) throw refused;
    return fallBackToHandshake(attempt, `it answered the probe with error ${error.code}: ${error.message}`);
  }
  const { negotiation, stateful } = attempt;
  if (negotiation.transport.kind === "channel" && stateful.length > 0 && mayRestart(error)) throw new ProbeLost(error);
  if (!revealsEra(error)) throw error;
  return fallBackToHandshake(attempt, `it answered the probe with HTTP ${httpStatusOf(error) ?? "200"}`);
}

function handshakeInStatedRevision(attempt: Attempt, supported: readonly unknown[]): Promise<NegotiationResult> {
  const shared = attempt.stateful.filter((revision) => supported.includes(revision));
  if (shared.length > 0) return handshakeOnce(attempt, shared);
  throw new McpError(
    "unsupported_version",
    `${attempt.negotiation.transport.target} supports only ${supported.join(", ") || "unknown revisions"}`,
    {
      data: { supported },
      fix: "Add one of these revisions to the `revisions` option, or update the client or the server.",
    },
  );
}

function fallBackToHandshake(attempt: Attempt, why: string): Promise<NegotiationResult> {
  if (attempt.stateful.length > 0) return handshakeOnce(attempt);
  const { transport, revisions } = attempt.negotiation;
  throw new McpError("unsupported_version", `${transport.target} does not support ${revisions.join(", ")}: ${why}`, {
    fix: "Add older revisions to the `revisions` option.",
  });
}
