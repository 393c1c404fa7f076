import type { ClientOptions } from "@parley/mcp";
import { type ReplayedRequest, type ReplayVerdict, replayRecording, type SkipReason } from "@parley/mcp/recording";
import type { ReplayedCall, ReplayReport } from "../contract/sessions.js";
import { isRecord } from "../engine/read-input.js";
import { boundedValue } from "./bounded-value.js";
import type { CancellableRun } from "./cancellable-runs.js";
import { openUntilCancelled } from "./open-until-cancelled.js";
import { type RecordedSession, recordedMessages } from "./recorded-session.js";
import type { SessionConnection } from "./session-connection.js";

/** Maximum length of a request's name, and of its arguments as JSON, in characters. Longer texts are truncated. */
const MAX_TEXT_LENGTH = 200;

const REASONS: Readonly<Record<SkipReason, string>> = {
  redacted: "The parameters were redacted.",
  may_change: "The tool may change something.",
};

/** Removes the question handlers and roots of the inspector, because a replay answers questions as recorded. */
const NO_ANSWERERS: ClientOptions = { onElicit: undefined, onSample: undefined, roots: undefined };

/** The session to replay, and the connection whose server it is replayed against. */
export interface ReplayOptions {
  readonly session: RecordedSession;
  readonly against: SessionConnection;
  /** True to include tools that may change something. */
  readonly all: boolean;
}

/**
 * Sends the requests of a session to the server of a connection over a separate client and compares the responses. If
 * the replay is cancelled, the report covers the requests up to the cancellation.
 */
export async function replaySession(
  { session, against, all }: ReplayOptions,
  { signal, begin }: CancellableRun,
): Promise<ReplayReport> {
  const calls: ReplayedCall[] = [];
  const progress: { last?: ReplayedRequest } = {};
  const onRequest = (request: ReplayedRequest) => {
    progress.last = request;
    const { method, about = "" } = shownRequest(request);
    begin({ call: request.number, calls: request.total, about: `${method} ${about}` });
  };
  const onVerdict = (verdict: ReplayVerdict) => void calls.push(shownVerdict(verdict));
  const open = (given: ClientOptions) => openUntilCancelled(against, { ...NO_ANSWERERS, ...given }, signal);
  try {
    const messages = [...recordedMessages(session)];
    await replayRecording({ messages }, open, { all, signal, onRequest, onVerdict });
    return reportOf(calls);
  } catch (reason) {
    if (!signal.aborted) throw reason;
    return cancelledReport(calls, progress.last);
  }
}

/**
 * Creates the report of a cancelled replay. `last` is the request that started last. If it has no verdict yet, it is
 * reported as cancelled.
 */
function cancelledReport(done: readonly ReplayedCall[], last: ReplayedRequest | undefined): ReplayReport {
  if (last === undefined) return { ...reportOf(done), cancelled: true };
  const ended: ReplayedCall = { ...shownRequest(last), verdict: "cancelled", differences: [] };
  const calls = last.number > done.length ? [...done, ended] : done;
  return { ...reportOf(calls), cancelled: true, notSent: last.total - calls.length };
}

function reportOf(calls: readonly ReplayedCall[]): ReplayReport {
  const count = (wanted: ReplayedCall["verdict"]) => calls.filter(({ verdict }) => verdict === wanted).length;
  return { calls, same: count("same"), different: count("different"), skipped: count("skipped") };
}

function shownVerdict({ method, params, verdict, reason, differences }: ReplayVerdict): ReplayedCall {
  return {
    ...shownRequest({ method, params }),
    verdict,
    ...(reason === undefined ? {} : { reason: REASONS[reason] }),
    differences: differences.map(({ path, recorded, now }) => ({
      path,
      recorded: boundedValue(recorded),
      now: boundedValue(now),
    })),
  };
}

function shownRequest({
  method,
  params,
}: Pick<ReplayedRequest, "method" | "params">): Pick<ReplayedCall, "method" | "about" | "arguments"> {
  const about = params["name"] ?? params["uri"];
  return {
    method,
    ...(typeof about === "string" ? { about: about.slice(0, MAX_TEXT_LENGTH) } : {}),
    ...argumentsOf(params),
  };
}

function argumentsOf({ arguments: given }: ReplayedRequest["params"]): Pick<ReplayedCall, "arguments"> {
  if (!isRecord(given) || Object.keys(given).length === 0) return {};
  const text = JSON.stringify(given);
  return { arguments: text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text };
}
