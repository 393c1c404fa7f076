import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";

/** How many calls may begin in a time: a bucket of `burst` tokens that gains `calls` of them in `perMs`, and starts full. */
export interface Rate {
  /** Calls in the long run, within `perMs`. */
  calls: number;
  /** The time, in milliseconds. */
  perMs: number;
  /** Calls that may begin at once after a pause. Default: `calls`. */
  burst?: number | undefined;
}

/** How many calls of one tool may begin in a time. */
export interface ToolRate extends Rate {
  /** Whether each caller has a bucket of its own, or all callers have one together. Default: `principal`. */
  per?: "principal" | "server" | undefined;
}

/** What one caller, or all callers together, may do. */
export interface Quota {
  /** Requests of any method but handshakes and `ping`. Each round of a call with questions is one. Default: any number. */
  rate?: Rate | undefined;
  /** Requests that run at once, without those of `streams`; more are refused. Default: those of the server's `limits`. */
  calls?: number | undefined;
  /** Open `subscriptions/listen` requests and HTTP GET streams together; more are refused. Default: those of the server's `limits`. */
  streams?: number | undefined;
}

/** What one caller may do. */
export interface PrincipalQuota extends Quota {
  /** HTTP sessions, at most 10,000; more are refused. Default: those of the HTTP server's `limits`. */
  sessions?: number | undefined;
}

/** Options of `quotas`. All are optional; without any, only tools with a `rate` are limited. */
export interface QuotaOptions {
  /**
   * What each caller may do: a principal of `authenticate`; without one, an address over HTTP and a connection elsewhere. Behind
   * a proxy the address is the proxy's.
   */
  perPrincipal?: PrincipalQuota | undefined;
  /** What all callers together may do. */
  perServer?: Quota | undefined;
  /**
   * Where the counts are: on this node alone, or on the server's `storage` for all nodes together, which costs a round trip for
   * each limit of an admitted call. Default: `node`.
   */
  on?: "node" | "storage" | undefined;
  /**
   * While the storage fails: count on this `node` alone, with a warning, or `refuse` what cannot be counted. Default: `node`,
   * because a limit for all nodes is worth less than the service.
   */
  ifStorageFails?: "node" | "refuse" | undefined;
  /**
   * How a tool call is refused: by a result that says to the model when to call again, or by an error, which over HTTP has
   * status 429 and `Retry-After`, as for every other method. Default: `result`.
   */
  refusal?: "result" | "protocol" | undefined;
  /** Buckets to keep on this node; beyond it the one is forgotten that was not used for longest. Default: 100,000. */
  buckets?: number | undefined;
  /** Milliseconds after which the places of a node that gave no sign of life are free for others. Default: 30,000. */
  leaseMs?: number | undefined;
}

/** Limits of callers and tools, for the option `quotas` of a server. */
export interface Quotas {
  /** Called by the server that gets them, with its parts. */
  attachToServer(parts: unknown): void;
}

/** A rate with its defaults. */
export interface FullRate {
  /** Milliseconds in which the bucket gains one token. */
  readonly intervalMs: number;
  readonly burst: number;
}

/** Throws for options that do not exist or cannot be meant. */
export function checkQuotas(options: QuotaOptions): void {
  checkOptions("`quotas`", options, "perPrincipal perServer on ifStorageFails refusal buckets leaseMs");
  checkOptions("`quotas.perPrincipal`", options.perPrincipal, "rate calls streams sessions");
  checkOptions("`quotas.perServer`", options.perServer, "rate calls streams");
  checkCount("quotas.perPrincipal.sessions", options.perPrincipal?.sessions, MOST_SESSIONS);
  for (const [name, quota] of Object.entries({ perPrincipal: options.perPrincipal, perServer: options.perServer })) {
    checkOptions(`\`quotas.${name}.rate\``, quota?.rate, "calls perMs burst");
    fullRate(`quotas.${name}.rate`, quota?.rate);
    checkCount(`quotas.${name}.calls`, quota?.calls);
    checkCount(`quotas.${name}.streams`, quota?.streams);
  }
  checkChoice("on", options.on, ["node", "storage"]);
  checkChoice("ifStorageFails", options.ifStorageFails, ["node", "refuse"]);
  checkChoice("refusal", options.refusal, ["result", "protocol"]);
  checkCount("quotas.buckets", options.buckets);
  checkCount("quotas.leaseMs", options.leaseMs);
}

/** The rate with its defaults. Throws for one that cannot be meant. */
export function fullRate(what: string, rate: Rate | undefined): FullRate | undefined {
  if (rate === undefined) return undefined;
  const { calls, perMs, burst = Math.max(1, Math.floor(calls)) } = rate;
  for (const [name, value] of Object.entries({ calls, perMs })) {
    if (typeof value !== "number" || !(value > 0) || value > LARGEST) throw wrong(`${what}.${name}`, value, "a number");
  }
  checkCount(`${what}.burst`, burst);
  return { intervalMs: perMs / calls, burst };
}

/** Larger ones cannot be counted in milliseconds. */
const LARGEST = 1e12;
/** The sessions of a caller are one value of the storage. */
const MOST_SESSIONS = 10_000;

function checkCount(what: string, value: number | undefined, most = LARGEST): void {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0 && value <= most)) return;
  throw wrong(what, value, "a whole number", most);
}

function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return;
  throw new McpError("invalid_definition", `\`quotas.${name}\` is ${JSON.stringify(value)}`, {
    fix: `Pass ${choices.map((choice) => `"${choice}"`).join(" or ")}.`,
  });
}

function wrong(what: string, value: unknown, expected: string, most = LARGEST): McpError {
  return new McpError("invalid_definition", `\`${what}\` is ${String(value)}`, {
    fix: `Pass ${expected} above 0, at most ${most}.`,
  });
}
