import type { ClientOptions } from "@parley/mcp";
import { type ReplayedRequest, type ReplayVerdict, replayRecording, type SkipReason } from "@parley/mcp/recording";
import type { ReplayedCall, ReplayReport } from "../contract/keep.js";
import { isRecord } from "../engine/read-input.js";
import { boundedValue } from "./bounded-value.js";
import type { CancellableRun } from "./cancellable-runs.js";
import type { KeptConnection } from "./kept-connection.js";
import { openUntilCancelled } from "./open-until-cancelled.js";
import { type RecordedSession, recordedMessages } from "./recorded-session.js";

/** Characters of the name of what was asked for, and of its arguments. */
const MOST_NAME = 200;

const REASONS: Readonly<Record<SkipReason, string>> = {
  redacted: "Its parameters were redacted.",
  may_change: "The tool may change something.",
};

/** Questions are answered as they were recorded, and not by the user. */
const NOBODY: ClientOptions = { onElicit: undefined, onSample: undefined, roots: undefined };

/** What is replayed, and against what. */
export interface ReplayedSession {
  readonly session: RecordedSession;
  readonly against: KeptConnection;
  /** Also tools that may change something. */
  readonly all: boolean;
}

/**
 * Sends the requests of a session to the server of a connection, over a client of its own, and compares the answers. Where it is
 * cancelled, the report has what was done until then.
 */
export async function replaySession(
  { session, against, all }: ReplayedSession,
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
  const open = (given: ClientOptions) => openUntilCancelled(against, { ...NOBODY, ...given }, signal);
  try {
    const messages = [...recordedMessages(session)];
    await replayRecording({ messages }, open, { all, signal, onRequest, onVerdict });
    return reportOf(calls);
  } catch (reason) {
    if (!signal.aborted) throw reason;
    return cancelledReport(calls, progress.last);
  }
}

/** `last` is the request that was begun last, and is under way where it has no verdict. */
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
  return { method, ...(typeof about === "string" ? { about: about.slice(0, MOST_NAME) } : {}), ...argumentsOf(params) };
}

function argumentsOf({ arguments: given }: ReplayedRequest["params"]): Pick<ReplayedCall, "arguments"> {
  if (!isRecord(given) || Object.keys(given).length === 0) return {};
  const text = JSON.stringify(given);
  return { arguments: text.length > MOST_NAME ? `${text.slice(0, MOST_NAME)}…` : text };
}
