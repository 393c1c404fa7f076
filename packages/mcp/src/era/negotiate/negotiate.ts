import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isObject } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError, UNSUPPORTED_VERSION } from "../../protocol/error.js";
import { httpStatusOf } from "../../protocol/http-failure.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { DiscoverResult } from "../../protocol/lifecycle.js";
import { META } from "../../protocol/meta.js";
import type { MethodTable } from "../../protocol/methods.js";
import { checkDiscoverResult } from "../../protocol/results.js";
import { type Revision, revisionsOf } from "../../protocol/revisions.js";
import type { ClientEra, ClientSelf, EncodedMessage } from "../era.js";
import { statelessClient } from "../stateless/client.js";
import { handshake } from "./handshake.js";
import type { Prior } from "./prior.js";
import { isModernError, isVerdict, mayStartAgain, ProbeLost, supportedBy } from "./refusal.js";

/** What is known of a server once its era is found. */
export interface Established {
  era: ClientEra;
  serverInfo: Implementation | undefined;
  capabilities: ServerCapabilities;
  instructions: string | undefined;
}

/** The part of a transport that finding the era uses. */
export interface ProbedTransport {
  readonly kind: "channel" | "http";
  readonly target: string;
  request(request: EncodedMessage & { id: Id }): Promise<unknown>;
  notify(notification: EncodedMessage): void | Promise<void>;
  established?(facts: { headers: Record<string, string>; hasSessions: boolean }): void;
}

/** What finding the era needs. */
export interface Negotiation {
  transport: ProbedTransport;
  self(revision: Revision): ClientSelf;
  methods: MethodTable;
  resultTypes: readonly string[];
  revisions: readonly Revision[];
  prior: Prior | undefined;
  /** Greet without the question which era the server speaks, where an allowed revision has a greeting. */
  greetAtOnce: boolean;
  platform: Platform;
  nextId(): Id;
}

/** One negotiation as it goes: the greeting is sent at most once, whoever asks for it. */
export interface Greeter {
  /** True once a refused version was answered by a second try. */
  readonly retried?: boolean;
  n: Negotiation;
  stateless: readonly Revision[];
  stateful: readonly Revision[];
  greeting?: Promise<Established>;
  /** The era is known; what comes later changes nothing. */
  decided: boolean;
}

/** How long a server on a pipe may be silent before it is greeted in the older way too. */
const SILENCE_MS = 1000;

/** Finds the revision that both sides speak, and opens the dialogue in it. */
export async function negotiate(n: Negotiation): Promise<Established> {
  const g: Greeter = {
    n,
    stateless: revisionsOf("stateless", n.revisions),
    stateful: revisionsOf("stateful", n.revisions),
    decided: false,
  };
  const prior = n.prior?.revision;
  if (n.greetAtOnce && g.stateful.length > 0) return greet(g);
  if (prior !== undefined && g.stateful.includes(prior)) {
    try {
      return await greet(g, [prior, ...g.stateful.filter((revision) => revision !== prior)]);
    } catch (error) {
      if (g.stateless.length === 0 || !isVerdict(error)) throw error;
      // What was learnt before no longer holds, so the server is asked again.
      delete g.greeting;
    }
  }
  const first = prior !== undefined && g.stateless.includes(prior) ? prior : g.stateless[0];
  if (first === undefined) return greet(g);
  if (first === prior && n.prior?.capabilities !== undefined) return known(g, first, n.prior);
  if (n.transport.kind === "http" || g.stateful.length === 0) return probe(g, first);
  return eitherWay(g, first);
}

function greet(g: Greeter, among: readonly Revision[] = g.stateful): Promise<Established> {
  g.greeting ??= handshake(g, among);
  return g.greeting;
}

/** After a silence the handshake is tried as well, and the first valid answer decides. */
function eitherWay(g: Greeter, revision: Revision): Promise<Established> {
  return new Promise<Established>((resolve, reject) => {
    const timer = g.n.platform.timer(
      SILENCE_MS,
      () => {
        greet(g).then(resolve, () => {});
      },
      true,
    );
    probe(g, revision)
      .then(resolve, (error) => {
        if (g.greeting === undefined) reject(error);
        else g.greeting.catch(() => reject(error));
      })
      .finally(() => timer.cancel());
  }).finally(() => {
    g.decided = true;
  });
}

/** Goes on from what the application remembered, without a word to the server. */
function known({ n }: Greeter, revision: Revision, prior: Prior): Established {
  n.transport.established?.({ headers: {}, hasSessions: false });
  return {
    era: statelessClient(revision, n.self(revision), n.methods, n.resultTypes),
    serverInfo: prior.serverInfo,
    capabilities: prior.capabilities ?? {},
    instructions: prior.instructions,
  };
}

async function probe(g: Greeter, revision: Revision): Promise<Established> {
  const { n, stateless } = g;
  const era = statelessClient(revision, n.self(revision), n.methods, n.resultTypes);
  let answer: unknown;
  try {
    answer = await n.transport.request(era.encode(n.nextId(), { method: "server/discover", params: undefined }));
  } catch (error) {
    return afterRefusal(g, error, revision);
  }
  const { result } = checkDiscoverResult(answer);
  if (result === undefined) return orGreet(g, "it answered `server/discover` with something else");
  const shared = stateless.find((candidate) => result.supportedVersions.includes(candidate));
  if (shared === undefined) return speaksOther(g, result.supportedVersions);
  n.transport.established?.({ headers: {}, hasSessions: false });
  const chosen = shared === revision ? era : statelessClient(shared, n.self(shared), n.methods, n.resultTypes);
  return discovered(chosen, result);
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

/** Reads a refusal of the probe: proof of the newer era, proof of the older one, or no verdict at all. */
function afterRefusal(g: Greeter, error: unknown, asked: Revision): Promise<Established> {
  if (error instanceof RpcError) {
    if (error.code === UNSUPPORTED_VERSION) {
      const supported = supportedBy(error);
      const shared = g.stateless.filter((revision) => supported.includes(revision));
      // A server may refuse a version and name it as supported all the same; asking once more tells.
      const next = shared.find((revision) => revision !== asked) ?? shared[0];
      if (next !== undefined && g.retried !== true) return probe({ ...g, stateless: shared, retried: true }, next);
      // A refusal that names nothing leaves the handshake as the only thing to try.
      return supported.length === 0 ? orGreet(g, error.message) : speaksOther(g, supported);
    }
    if (isModernError(error)) throw error;
    return orGreet(g, `it answered the probe with error ${error.code}: ${error.message}`);
  }
  if (g.n.transport.kind === "channel" && g.stateful.length > 0 && mayStartAgain(error)) throw new ProbeLost(error);
  if (!isVerdict(error)) throw error;
  return orGreet(g, `it answered the probe with HTTP ${httpStatusOf(error) ?? "200"}`);
}

function speaksOther(g: Greeter, supported: readonly unknown[]): Promise<Established> {
  const shared = g.stateful.filter((revision) => supported.includes(revision));
  if (shared.length > 0) return greet(g, shared);
  throw new McpError(
    "unsupported_version",
    `${g.n.transport.target} speaks ${supported.join(", ") || "no revision known here"}`,
    {
      data: { supported },
      fix: "Allow one of these revisions by the `revisions` option, or update one of the two sides.",
    },
  );
}

function orGreet(g: Greeter, why: string): Promise<Established> {
  if (g.stateful.length > 0) return greet(g);
  const { transport, revisions } = g.n;
  throw new McpError("unsupported_version", `${transport.target} does not speak ${revisions.join(", ")}: ${why}`, {
    fix: "Allow older revisions by the `revisions` option.",
  });
}
