import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";

/**
 * Maximum number of calls that may start within a period. A token bucket enforces it: the bucket holds `burst` tokens,
 * starts full, and gains `calls` tokens every `perMs` milliseconds.
 */
export interface Rate {
  /** Average number of calls per period. */
  calls: number;
  /** Length of the period, in milliseconds. */
  perMs: number;
  /** Maximum number of calls that may start at once after a pause. Default: `calls`, rounded down and at least 1. */
  burst?: number | undefined;
}

/** Maximum number of calls to one tool that may start within a period. */
export interface ToolRate extends Rate {
  /**
   * `principal` gives each caller a separate bucket, `server` gives all callers a common one. Default: `principal`.
   */
  per?: "principal" | "server" | undefined;
}

/** The limits of one caller, or of all callers together. */
export interface Quota {
  /**
   * Rate of requests of any method except handshakes, `server/discover` and `ping`. Each round of a call with questions
   * counts as one request. Default: no limit.
   */
  rate?: Rate | undefined;
  /**
   * Maximum number of requests that run at the same time, not counting those in `streams`. Further requests are
   * refused. Default: only the server's `limits`.
   */
  calls?: number | undefined;
  /**
   * Maximum number of open `subscriptions/listen` requests and HTTP GET streams together. Further ones are refused.
   * Default: only the server's `limits`.
   */
  streams?: number | undefined;
}

/** The limits of one caller. */
export interface PrincipalQuota extends Quota {
  /**
   * Maximum number of HTTP sessions. The option itself may be at most 10,000. Further sessions are refused. Default:
   * only the `limits` of the HTTP server.
   */
  sessions?: number | undefined;
}

/** Options of `quotas`. All are optional. Without any, only tools with a `rate` are limited. */
export interface QuotaOptions {
  /**
   * Limits of each caller. The caller is the principal of `authenticate`. Without a principal, the caller is the
   * sender's address over HTTP, and the connection on other transports. Behind a proxy, the address is that of the
   * proxy.
   */
  perPrincipal?: PrincipalQuota | undefined;
  /** Limits of all callers together. */
  perServer?: Quota | undefined;
  /**
   * The place where the counts are stored: `node` counts on this node alone, `storage` counts in the server's `storage`
   * for all nodes together. `storage` costs a round trip for each limit of an admitted call. Default: `node`.
   */
  on?: "node" | "storage" | undefined;
  /**
   * Behaviour while the storage fails: `node` counts on this node alone, with a warning; `refuse` refuses requests that
   * cannot be counted. Default: `node`, because the service matters more than a limit across nodes.
   */
  ifStorageFails?: "node" | "refuse" | undefined;
  /**
   * Refusal of a tool call: `result` tells the model in a result when to call again, `protocol` answers with an error.
   * Over HTTP the error has `Retry-After` and status 429, or 503 if the limit counts all callers together. Other
   * methods are always refused with an error. Default: `result`.
   */
  refusal?: "result" | "protocol" | undefined;
  /**
   * Maximum number of buckets to store on this node. Beyond it the least recently used bucket is evicted. Default:
   * 100,000.
   */
  buckets?: number | undefined;
  /**
   * Time in milliseconds for which a node holds its places in the storage. The places become free if the node does not
   * renew them within this time. Default: 30,000.
   */
  leaseMs?: number | undefined;
}

/** Limits of callers and tools, for the option `quotas` of a server. */
export interface Quotas {
  /** Called by the server that gets these quotas. `parts` are internals of the library. */
  attachToServer(parts: unknown): void;
}

/** A rate with its defaults filled in. */
export interface FullRate {
  /** Milliseconds in which the bucket gains one token. */
  readonly intervalMs: number;
  /** Number of tokens in a full bucket. */
  readonly burst: number;
}

/** Throws for unknown options and for values out of range. */
export function checkQuotas(options: QuotaOptions): void {
  checkOptions("`quotas`", options, "perPrincipal perServer on ifStorageFails refusal buckets leaseMs");
  checkOptions("`quotas.perPrincipal`", options.perPrincipal, "rate calls streams sessions");
  checkOptions("`quotas.perServer`", options.perServer, "rate calls streams");
  checkCount("quotas.perPrincipal.sessions", options.perPrincipal?.sessions, MAX_SESSIONS);
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

/** Returns the rate with its defaults, or undefined if there is none. Throws for values out of range. */
export function fullRate(what: string, rate: Rate | undefined): FullRate | undefined {
  if (rate === undefined) return undefined;
  const { calls, perMs, burst = Math.max(1, Math.floor(calls)) } = rate;
  for (const [name, value] of Object.entries({ calls, perMs })) {
    if (typeof value !== "number" || !(value > 0) || value > MAX_VALUE)
      throw wrong(`${what}.${name}`, value, "a number");
  }
  checkCount(`${what}.burst`, burst);
  return { intervalMs: perMs / calls, burst };
}

/** Upper bound of all counts and times. Larger values lose precision in milliseconds. */
const MAX_VALUE = 1e12;
/** Upper bound of `sessions`, because the storage holds the sessions of one caller in a single value. */
const MAX_SESSIONS = 10_000;

function checkCount(what: string, value: number | undefined, most = MAX_VALUE): void {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0 && value <= most)) return;
  throw wrong(what, value, "a whole number", most);
}

function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return;
  throw new McpError("invalid_definition", `\`quotas.${name}\` is ${JSON.stringify(value)}`, {
    fix: `Pass ${choices.map((choice) => `"${choice}"`).join(" or ")}.`,
  });
}

function wrong(what: string, value: unknown, expected: string, most = MAX_VALUE): McpError {
  return new McpError("invalid_definition", `\`${what}\` is ${String(value)}`, {
    fix: `Pass ${expected} above 0, at most ${most}.`,
  });
}
