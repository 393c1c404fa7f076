import { isThenable, type MaybePromise, whenReady } from "../../encoding/maybe-promise.js";
import { McpError } from "../../protocol/error.js";
import type { Answer, Endpoint, Exchange, SessionQuota } from "../../transport/transport.js";
import type { ServerConfig } from "../call/facts.js";
import type { ServerCall } from "../call/server-call.js";
import type { QuotaOptions, ToolRate } from "../contract/quota-options.js";
import type { FoundOffer } from "../contract/source.js";
import { type CountedCaller, countedCaller, storedKey } from "./counted-caller.js";
import { type Counts, NotCounted, nodeCounts, sharedCounts } from "./counts.js";
import { type Limit, limitsOf, toolLimit } from "./limit.js";
import { type QuotaRefusal, refuse, refusedOpening } from "./quota-refusal.js";

/** When the end of another call cannot be foreseen. */
const UNKNOWN_MS = 1000;
/** Sessions and streams last longer than calls. */
const UNKNOWN_LASTING_MS = 10_000;

type Caller = Pick<Exchange, "principal" | "peer" | "http">;
type Next = () => object | Promise<object>;

/** Finds tools, for their `rate`. */
interface ToolFinder {
  find(kind: "tools", name: string, call: ServerCall): MaybePromise<FoundOffer | undefined>;
}

/** A call or a stream on its way through the limits. */
interface Passage {
  readonly limits: readonly Limit[];
  readonly caller: CountedCaller;
  /** Frees the places that it has. */
  readonly leaving: (() => void)[];
}

/** Admits or refuses the calls of one server, and the streams and sessions that its transports open. */
export class CallQuotas {
  readonly #facts: ServerConfig;
  readonly #options: QuotaOptions;
  readonly #node: Counts;
  readonly #shared: Counts | undefined;
  readonly #perPrincipal: readonly Limit[];
  readonly #perServer: readonly Limit[];
  readonly #offers: ToolFinder;
  /** By the `rate` of a tool's definition. */
  readonly #tools = new WeakMap<ToolRate, Limit>();

  constructor(facts: ServerConfig, options: QuotaOptions, offers: ToolFinder) {
    this.#offers = offers;
    this.#facts = facts;
    this.#options = options;
    this.#perPrincipal = limitsOf("perPrincipal", options.perPrincipal);
    this.#perServer = limitsOf("perServer", options.perServer);
    this.#node = nodeCounts(facts.platform, options);
    if (options.on !== "storage") return;
    const { storage } = facts.options;
    if (storage === undefined) {
      throw new McpError("invalid_definition", "`quotas` count on the storage, but the server has none", {
        fix: "Pass `storage` to `new Server`, or leave `on` out.",
      });
    }
    this.#shared = sharedCounts(facts.platform, storage, options, this.#node);
  }

  close(): void {
    this.#shared?.close();
  }

  /** What transports ask before they open a session or a stream; nothing where these are not limited. */
  get places(): Pick<Endpoint, "sessionPlaces" | "takeStream"> {
    const limits = [...this.#perPrincipal, ...this.#perServer];
    const streams = limits.filter(({ counts }) => counts === "streams");
    const sessions = limits.find(({ counts }) => counts === "sessions");
    return {
      ...(streams.length > 0 && { takeStream: (from) => this.#takeStream(streams, from) }),
      ...(sessions !== undefined && { sessionPlaces: this.#sessionQuota(sessions) }),
    };
  }

  #takeStream(limits: readonly Limit[], from: Caller): MaybePromise<(() => void) | Answer> {
    const passage: Passage = { limits, caller: countedCaller(from), leaving: [] };
    return whenReady(this.#pass(passage, 0), (refused) => {
      if (refused === undefined) return () => leave(passage);
      leave(passage);
      return refusedOpening(refused);
    });
  }

  #sessionQuota(limit: Limit): SessionQuota {
    const { platform, info } = this.#facts;
    const counts = this.#shared ?? this.#node;
    return {
      async take(from, session, request) {
        const place = storedKey(platform, [info.name, limit.kind, countedCaller(from).key]);
        try {
          if (await counts.enterSession(place, limit.most ?? 0, session)) return { place };
        } catch (error) {
          return refusedOpening(notCounted(limit, error), request);
        }
        return refusedOpening(refusedBy(limit, UNKNOWN_LASTING_MS), request);
      },
      keep: (place, lifeMs) => counts.keepSession(place, lifeMs),
      free: (place, session) => counts.leaveSession(place, session),
    };
  }

  /** Serves a call by `next` if all limits allow it. What an era answers by itself is free. */
  serve(call: ServerCall, next: Next): MaybePromise<object> {
    if (call.request.own !== undefined) return next();
    const passage: Passage = {
      limits: this.#counted(this.#perPrincipal, call),
      caller: countedCaller(call.exchange),
      leaving: [],
    };
    // The caller's own limits come first, so that a flood does not use up what all callers share.
    const refused = this.#pass(passage, 0);
    if (isThenable(refused)) return refused.then((settled) => this.#serveWithin(call, settled, passage, next));
    return this.#serveWithin(call, refused, passage, next);
  }

  /** Serves a call that its caller's own limits allow if the other limits do. */
  #serveWithin(call: ServerCall, own: QuotaRefusal | undefined, passage: Passage, next: Next): MaybePromise<object> {
    if (own !== undefined) return this.#finish(call, own, passage, next);
    const failed = (error: unknown): never => {
      leave(passage);
      throw error;
    };
    let refused: MaybePromise<QuotaRefusal | undefined>;
    try {
      refused = whenReady(this.#toolLimit(call), (tool) => {
        const others = [...(tool === undefined ? [] : [tool]), ...this.#counted(this.#perServer, call)];
        return this.#pass({ ...passage, limits: others }, 0);
      });
    } catch (error) {
      return failed(error);
    }
    if (isThenable(refused)) return refused.then((settled) => this.#finish(call, settled, passage, next), failed);
    return this.#finish(call, refused, passage, next);
  }

  #counted(limits: readonly Limit[], { row }: ServerCall): readonly Limit[] {
    const kind = row.deadlineExempt === true ? "streams" : "calls";
    return limits.filter(({ counts }) => counts === "any" || counts === kind);
  }

  #toolLimit(call: ServerCall): MaybePromise<Limit | undefined> {
    const { method, params } = call.request;
    const { name } = params;
    if (method !== "tools/call" || typeof name !== "string") return undefined;
    const found = call.offer ?? this.#offers.find("tools", name, call);
    if (!isThenable(found)) return this.#limitOf(name, found);
    // The handler waits for the same search, and answers if it fails.
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

  /** Passes the limits in order, from one of them on; gives the reason if one of them refuses. */
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
    const outcome = limit.rate === undefined ? counts.enter(key, limit.most ?? 0) : counts.take(key, limit.rate);
    const judge = (settled: typeof outcome extends MaybePromise<infer T> ? T : never) => {
      if (settled === 0) return undefined;
      if (typeof settled !== "function")
        return refusedBy(limit, settled ?? (limit.counts === "streams" ? UNKNOWN_LASTING_MS : UNKNOWN_MS));
      passage.leaving.push(settled);
      return undefined;
    };
    return isThenable(outcome)
      ? Promise.resolve(outcome).then(judge, (error) => notCounted(limit, error))
      : judge(outcome);
  }

  #countsOf({ kind, server }: Limit, { key, everywhere }: CountedCaller): { counts: Counts; key: string } {
    const parts = [this.#facts.info.name, kind, ...(server ? [] : [key])];
    if (this.#shared === undefined || !(server || everywhere)) return { counts: this.#node, key: parts.join("\n") };
    return { counts: this.#shared, key: storedKey(this.#facts.platform, parts) };
  }

  #finish(call: ServerCall, refused: QuotaRefusal | undefined, passage: Passage, next: Next): MaybePromise<object> {
    if (refused !== undefined) {
      leave(passage);
      return refuse(call, refused, this.#options.refusal ?? "result");
    }
    if (passage.leaving.length === 0) return next();
    let result: object | Promise<object>;
    try {
      result = next();
    } catch (error) {
      leave(passage);
      throw error;
    }
    if (isThenable(result)) return Promise.resolve(result).finally(() => leave(passage));
    leave(passage);
    return result;
  }
}

/** Frees the places that a call or a stream has. */
function leave({ leaving }: Passage): void {
  for (const one of leaving.splice(0)) one();
}

function refusedBy({ option, server, text }: Limit, waitMs: number): QuotaRefusal {
  return { limit: option, retryAfterMs: Math.ceil(waitMs), server, text };
}

function notCounted({ option }: Limit, error: unknown): QuotaRefusal {
  if (!(error instanceof NotCounted)) throw error;
  return { limit: option, retryAfterMs: UNKNOWN_MS, server: true, text: "The server cannot count calls now." };
}
