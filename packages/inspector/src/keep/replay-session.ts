import type { ClientOptions } from "@parley/mcp";
import { parseRecording, type ReplayVerdict, replayRecording, type SkipReason } from "@parley/mcp/recording";
import type { ReplayedCall, ReplayReport } from "../contract/keep.js";
import { isRecord } from "../engine/read-input.js";
import { boundedValue } from "./bounded-value.js";
import type { KeptConnection } from "./kept-connection.js";
import { type RecordedSession, recordingOf } from "./recording-of.js";

/** Characters of the name of what was asked for, and of its arguments. */
const MOST_NAME = 200;

const REASONS: Readonly<Record<SkipReason, string>> = {
  redacted: "Its parameters were redacted.",
  may_change: "The tool may change something.",
};

/** Questions are answered as they were recorded, and not by the user. */
const NOBODY: ClientOptions = { onElicit: undefined, onSample: undefined, roots: undefined };

/** Sends the requests of a session to the server of a connection, over a client of its own, and compares the answers. */
export async function replaySession(
  session: RecordedSession,
  against: KeptConnection,
  all: boolean,
): Promise<ReplayReport> {
  const recording = parseRecording(recordingOf(session), "the session");
  const verdicts = await replayRecording(recording, (given) => against.openAnother({ ...NOBODY, ...given }), { all });
  const calls = verdicts.map(shownVerdict);
  const count = (wanted: ReplayVerdict["verdict"]) => calls.filter(({ verdict }) => verdict === wanted).length;
  return { calls, same: count("same"), different: count("different"), skipped: count("skipped") };
}

function shownVerdict({ method, params, verdict, reason, differences }: ReplayVerdict): ReplayedCall {
  const about = params["name"] ?? params["uri"];
  return {
    method,
    ...(typeof about === "string" ? { about: about.slice(0, MOST_NAME) } : {}),
    ...argumentsOf(params),
    verdict,
    ...(reason === undefined ? {} : { reason: REASONS[reason] }),
    differences: differences.map(({ path, recorded, now }) => ({
      path,
      recorded: boundedValue(recorded),
      now: boundedValue(now),
    })),
  };
}

function argumentsOf({ arguments: given }: ReplayVerdict["params"]): Pick<ReplayedCall, "arguments"> {
  if (!isRecord(given) || Object.keys(given).length === 0) return {};
  const text = JSON.stringify(given);
  return { arguments: text.length > MOST_NAME ? `${text.slice(0, MOST_NAME)}…` : text };
}
