import { isThenable, type MaybePromise, whenReady } from "../../encoding/maybe-promise.js";
import { McpError } from "../../protocol/error.js";
import type { Answer, Endpoint, Exchange, SessionQuota } from "../../transport/transport.js";
import type { ServerCall } from "../call/server-call.js";
import type { ServerConfig } from "../call/server-config.js";
import type { QuotaOptions, ToolRate } from "../contract/quota-options.js";
import type { FoundOffer } from "../contract/source.js";
import { CountingError, type Counts, nodeCounts, sharedCounts } from "./counts.js";
import { type Limit, limitsOf, toolLimit } from "./limit.js";
import { type QuotaCaller, quotaCallerOf, storageKey } from "./quota-caller.js";
import { type QuotaRefusal, refuse, refusedOpening } from "./quota-refusal.js";

/**
 * The wait that a refusal advises if another call must end first, or if the server cannot count calls. The actual wait
 * is unknown.
 */
const CALL_RETRY_MS = 1000;
/** The wait that a refusal advises if a session or stream must end first. Both last longer than calls. */
const STREAM_RETRY_MS = 10_000;

type Caller = Pick<Exchange, "principal" | "peer" | "http">;
type Next = () => object | Promise<object>;

/** Finds tools, for their `rate`. */
interface ToolFinder {
  find(kind: "tools", name: string, call: ServerCall): MaybePromise<FoundOffer | undefined>;
}

/** A call or a stream while it is checked against the limits. */
interface Passage {
  readonly limits: readonly Limit[];
  readonly caller: QuotaCaller;
  /** Functions that release the places acquired so far. */
  readonly releases: (() => void)[];
}

/** Admits or refuses the calls to one server, and the streams and sessions that its transports open. */
export class CallQuotas {
  readonly #config: ServerConfig;
  readonly #options: QuotaOptions;
  readonly #node: Counts;
  readonly #shared: Counts | undefined;
  readonly #perPrincipal: readonly Limit[];
  readonly #perServer: readonly Limit[];
  readonly #offers: ToolFinder;
  /** The limits of tools, by the `rate` object of their definition. */
  readonly #tools = new WeakMap<ToolRate, Limit>();

  constructor(config: ServerConfig, options: QuotaOptions, offers: ToolFinder) {
    this.#offers = offers;
    this.#config = config;
    this.#options = options;
    this.#perPrincipal = limitsOf("perPrincipal", options.perPrincipal);
    this.#perServer = limitsOf("perServer", options.perServer);
    this.#node = nodeCounts(config.platform, options);
    if (options.on !== "storage") return;
    const { storage } = config.options;
    if (storage === undefined) {
      throw new McpError("invalid_definition", '`quotas` have `on: "storage"`, but the server has no storage', {
        fix: "Pass `storage` to `new Server`, or omit `on`.",
      });
    }
    this.#shared = sharedCounts(config.platform, storage, options, this.#node);
  }

  close(): void {
    this.#shared?.close();
  }

  /**
   * The limits that transports check before they open a session or a stream. A member is absent if it has no limit.
   */
  get places(): Pick<Endpoint, "sessionPlaces" | "takeStream"> {
    const limits = [...this.#perPrincipal, ...this.#perServer];
    const streams = limits.filter(({ counts }) => counts === "streams");
    const sessions = limits.find(({ counts }) => counts === "sessions");
    return {
      ...(streams.length > 0 && { takeStream: (from) => this.#acquireStream(streams, from) }),
      ...(sessions !== undefined && { sessionPlaces: this.#sessionQuota(sessions) }),
    };
  }

  #acquireStream(limits: readonly Limit[], from: Caller): MaybePromise<(() => void) | Answer> {
    const passage: Passage = { limits, caller: quotaCallerOf(from), releases: [] };
    return whenReady(this.#pass(passage, 0), (refused) => {
      if (refused === undefined) return () => releaseAll(passage);
      releaseAll(passage);
      return refusedOpening(refused);
    });
  }

  #sessionQuota(limit: Limit): SessionQuota {
    const { platform, info } = this.#config;
    const counts = this.#shared ?? this.#node;
    return {
      async take(from, session, request) {
        const place = storageKey(platform, [info.name, limit.kind, quotaCallerOf(from).key]);
        try {
          if (await counts.acquireSession(place, limit.max ?? 0, session)) return { place };
        } catch (error) {
          return refusedOpening(countingRefusal(limit, error), request);
        }
        return refusedOpening(refusedBy(limit, STREAM_RETRY_MS), request);
      },
      keep: (place, lifeMs) => counts.renewSession(place, lifeMs),
      free: (place, session) => counts.releaseSession(place, session),
    };
  }

  /** Serves a call through `next` if all limits allow it. Methods that the era answers itself are not counted. */
  serve(call: ServerCall, next: Next): MaybePromise<object> {
    if (call.request.eraResult !== undefined) return next();
    const passage: Passage = {
      limits: this.#applicable(this.#perPrincipal, call),
      caller: quotaCallerOf(call.exchange),
      releases: [],
    };
    // The caller's own limits come first, so that a flood from one caller does not use up the limits that all callers
    // share.
    const refused = this.#pass(passage, 0);
    if (isThenable(refused)) return refused.then((settled) => this.#serveWithin(call, settled, passage, next));
    return this.#serveWithin(call, refused, passage, next);
  }

  /**
   * Serves the call unless a limit refuses it. `own` is the refusal by the caller's own limits, if any. Without one,
   * checks the limit of the tool and the limits of all callers together.
   */
  #serveWithin(call: ServerCall, own: QuotaRefusal | undefined, passage: Passage, next: Next): MaybePromise<object> {
    if (own !== undefined) return this.#finish(call, own, passage, next);
    const failed = (error: unknown): never => {
      releaseAll(passage);
      throw error;
    };
    let refused: MaybePromise<QuotaRefusal | undefined>;
    try {
      refused = whenReady(this.#toolLimit(call), (tool) => {
        const others = [...(tool === undefined ? [] : [tool]), ...this.#applicable(this.#perServer, call)];
        return this.#pass({ ...passage, limits: others }, 0);
      });
    } catch (error) {
      return failed(error);
    }
    if (isThenable(refused)) return refused.then((settled) => this.#finish(call, settled, passage, next), failed);
    return this.#finish(call, refused, passage, next);
  }

  #applicable(limits: readonly Limit[], { row }: ServerCall): readonly Limit[] {
    const kind = row.deadlineExempt === true ? "streams" : "calls";
    return limits.filter(({ counts }) => counts === "any" || counts === kind);
  }

  #toolLimit(call: ServerCall): MaybePromise<Limit | undefined> {
    const { method, params } = call.request;
    const { name } = params;
    if (method !== "tools/call" || typeof name !== "string") return undefined;
    const found = call.offer ?? this.#offers.find("tools", name, call);
    if (!isThenable(found)) return this.#limitOf(name, found);
    // The handler awaits the same lookup and reports its failure, so a failure is ignored here.
    call.offer = found;
    return found.then(
      (settled) => this.#limitOf(name, settled),
      () => undefined,
    );
  }

  #limitOf(name: string, found: FoundOffer | undefined): Limit | undefined {
    if (found?.rate === undefined) return undefined;
    let limit = this.#tools.get(found.rate);
    if (limit === undefined) {
      limit = toolLimit(name, found.rate);
      this.#tools.set(found.rate, limit);
    }
    return limit;
  }

  /** Checks the limits in order, starting with limit `from`. Returns the refusal of the first limit that refuses. */
  #pass(passage: Passage, from: number): MaybePromise<QuotaRefusal | undefined> {
    for (const [index, limit] of passage.limits.slice(from).entries()) {
      const refused = this.#passOne(limit, passage);
      if (isThenable(refused)) return refused.then((settled) => settled ?? this.#pass(passage, from + index + 1));
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  #passOne(limit: Limit, passage: Passage): MaybePromise<QuotaRefusal | undefined> {
    const { counts, key } = this.#countsOf(limit, passage.caller);
    const outcome =
      limit.rate === undefined ? counts.acquirePlace(key, limit.max ?? 0) : counts.acquireToken(key, limit.rate);
    const judge = (settled: typeof outcome extends MaybePromise<infer T> ? T : never) => {
      if (settled === 0) return undefined;
      if (typeof settled !== "function")
        return refusedBy(limit, settled ?? (limit.counts === "streams" ? STREAM_RETRY_MS : CALL_RETRY_MS));
      passage.releases.push(settled);
      return undefined;
    };
    return isThenable(outcome)
      ? Promise.resolve(outcome).then(judge, (error) => countingRefusal(limit, error))
      : judge(outcome);
  }

  #countsOf({ kind, server }: Limit, { key, onAllNodes }: QuotaCaller): { counts: Counts; key: string } {
    const parts = [this.#config.info.name, kind, ...(server ? [] : [key])];
    if (this.#shared === undefined || !(server || onAllNodes)) return { counts: this.#node, key: parts.join("\n") };
    return { counts: this.#shared, key: storageKey(this.#config.platform, parts) };
  }

  #finish(call: ServerCall, refused: QuotaRefusal | undefined, passage: Passage, next: Next): MaybePromise<object> {
    if (refused !== undefined) {
      releaseAll(passage);
      return refuse(call, refused, this.#options.refusal ?? "result");
    }
    if (passage.releases.length === 0) return next();
    let result: object | Promise<object>;
    try {
      result = next();
    } catch (error) {
      releaseAll(passage);
      throw error;
    }
    if (isThenable(result)) return Promise.resolve(result).finally(() => releaseAll(passage));
    releaseAll(passage);
    return result;
  }
}

/** Releases all places that a call or a stream has acquired. */
function releaseAll({ releases }: Passage): void {
  for (const one of releases.splice(0)) one();
}

function refusedBy({ option, server, text }: Limit, waitMs: number): QuotaRefusal {
  return { limit: option, retryAfterMs: Math.ceil(waitMs), server, text };
}

function countingRefusal({ option }: Limit, error: unknown): QuotaRefusal {
  if (!(error instanceof CountingError)) throw error;
  return { limit: option, retryAfterMs: CALL_RETRY_MS, server: true, text: "The server cannot count calls now." };
}
