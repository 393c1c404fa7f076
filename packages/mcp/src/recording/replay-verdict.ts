import { lastPage } from "../protocol/message.js";
import type { RecordedCall } from "./recorded-calls.js";
import type { RecordedOutcome } from "./recorded-exchanges.js";
import { REDACTED } from "./redactor.js";
import { type Difference, differencesOf } from "./result-differences.js";

/** Why a recorded request is not sent: its parameters were redacted, or its tool does not say that it changes nothing. */
export type SkipReason = "redacted" | "may_change";

/** What became of one request. */
export interface ReplayVerdict {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly verdict: "same" | "different" | "skipped";
  /** Why it was not sent; absent if it was. */
  readonly reason?: SkipReason;
  readonly differences: readonly Difference[];
}

/** Why a request is not sent again; undefined if it may be. `readOnly` says whether a tool changes nothing. */
export function refusalOf(
  { method, params }: RecordedCall,
  readOnly: (tool: string) => boolean,
): SkipReason | undefined {
  if (JSON.stringify(params).includes(REDACTED)) return "redacted";
  if (method !== "tools/call" || readOnly(String(params["name"]))) return undefined;
  return "may_change";
}

/** Compares the answer of a server with the recorded one. */
export function judge(call: RecordedCall, now: RecordedOutcome | undefined, ignored: readonly string[]): ReplayVerdict {
  const { method, params, outcome } = call;
  const differences = differencesOf(comparable(outcome), comparable(now), ignored);
  return { method, params, verdict: differences.length === 0 ? "same" : "different", differences };
}

/** What of an answer says something about the server: neither its era nor how long it may be kept. */
function comparable(outcome: RecordedOutcome | undefined): unknown {
  if (outcome === undefined) return undefined;
  // Codes of errors differ between revisions.
  if ("error" in outcome) return { error: outcome.error.message };
  const { _meta, resultType, ttlMs, cacheScope, ...result } = lastPage(outcome.result);
  return result;
}
