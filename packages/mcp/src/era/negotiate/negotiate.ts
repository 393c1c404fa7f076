import { RpcError } from "../../jsonrpc/error.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError, UNSUPPORTED_VERSION } from "../../protocol/error.js";
import { httpStatusOf } from "../../protocol/http-failure.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { DiscoverResult } from "../../protocol/lifecycle.js";
import { META } from "../../protocol/meta.js";
import { checkDiscoverResult } from "../../protocol/results.js";
import { type Revision, revisionsOf } from "../../protocol/revisions.js";
import type { ClientEra } from "../era.js";
import { statelessClient } from "../stateless/client.js";
import { performHandshake } from "./handshake.js";
import type { Attempt, Established, Negotiation } from "./negotiation.js";
import type { Prior } from "./prior.js";
import { isModernError, mayStartAgain, ProbeLost, supportedBy, tellsRevision } from "./refusal.js";

/** How long a server on a pipe may be silent before the handshake is tried too. */
const SILENCE_MS = 1000;

/** Finds the revision that both sides speak, and opens the dialogue in it. */
export async function negotiate(negotiation: Negotiation): Promise<Established> {
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
      if (stateless.length === 0 || !tellsRevision(error)) throw error;
      // What was learnt before no longer holds, so the server is asked again.
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

function handshakeOnce(attempt: Attempt, among: readonly Revision[] = attempt.stateful): Promise<Established> {
  attempt.handshake ??= performHandshake(attempt, among);
  return attempt.handshake;
}

/** After a silence the handshake is tried as well, and the first valid answer decides. */
function probeAndHandshake(attempt: Attempt, revision: Revision): Promise<Established> {
  return new Promise<Established>((resolve, reject) => {
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

/** Goes on from what the application remembered, without a word to the server. */
function fromPrior(negotiation: Negotiation, revision: Revision, prior: Prior): Established {
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

async function probe(attempt: Attempt, revision: Revision): Promise<Established> {
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
  if (result === undefined) return fallBackToHandshake(attempt, "it answered `server/discover` with something else");
  const shared = stateless.find((candidate) => result.supportedVersions.includes(candidate));
  if (shared === undefined) return handshakeInStatedRevision(attempt, result.supportedVersions);
  transport.established?.({ headers: {}, hasSessions: false });
  return discovered(shared === revision ? era : statelessEra(negotiation, shared), result);
}

function discovered(era: ClientEra, result: DiscoverResult): Established {
  const info = result._meta?.[META.serverInfo];
  const named = isObject(info) && typeof info["name"] === "string" && typeof info["version"] === "string";
  return {
    era,
    serverInfo: named ? (info as Implementation) : undefined,
    capabilities: result.capabilities,
    instructions: result.instructions,
  };
}

/** Reads a refusal of the probe: proof of the newer era, proof of the older one, or of neither. */
function afterRefusal(attempt: Attempt, error: unknown, asked: Revision): Promise<Established> {
  if (error instanceof RpcError) {
    if (error.code === UNSUPPORTED_VERSION) {
      const supported = supportedBy(error);
      const shared = attempt.stateless.filter((revision) => supported.includes(revision));
      // A server may refuse a version and name it as supported all the same; asking once more tells.
      const next = shared.find((revision) => revision !== asked) ?? shared[0];
      if (next !== undefined && attempt.retried !== true)
        return probe({ ...attempt, stateless: shared, retried: true }, next);
      // A refusal that names nothing leaves the handshake as the only thing to try.
      return supported.length === 0
        ? fallBackToHandshake(attempt, error.message)
        : handshakeInStatedRevision(attempt, supported);
    }
    if (isModernError(error)) throw error;
    return fallBackToHandshake(attempt, `it answered the probe with error ${error.code}: ${error.message}`);
  }
  const { negotiation, stateful } = attempt;
  if (negotiation.transport.kind === "channel" && stateful.length > 0 && mayStartAgain(error))
    throw new ProbeLost(error);
  if (!tellsRevision(error)) throw error;
  return fallBackToHandshake(attempt, `it answered the probe with HTTP ${httpStatusOf(error) ?? "200"}`);
}

function handshakeInStatedRevision(attempt: Attempt, supported: readonly unknown[]): Promise<Established> {
  const shared = attempt.stateful.filter((revision) => supported.includes(revision));
  if (shared.length > 0) return handshakeOnce(attempt, shared);
  throw new McpError(
    "unsupported_version",
    `${attempt.negotiation.transport.target} speaks ${supported.join(", ") || "no revision known here"}`,
    {
      data: { supported },
      fix: "Allow one of these revisions by the `revisions` option, or update one of the two sides.",
    },
  );
}

function fallBackToHandshake(attempt: Attempt, why: string): Promise<Established> {
  if (attempt.stateful.length > 0) return handshakeOnce(attempt);
  const { transport, revisions } = attempt.negotiation;
  throw new McpError("unsupported_version", `${transport.target} does not speak ${revisions.join(", ")}: ${why}`, {
    fix: "Allow older revisions by the `revisions` option.",
  });
}
