import type { Client, ClientOptions } from "@parley/mcp";
import { type Revision, shownRevision } from "@parley/mcp/protocol";
import type { WireMessage } from "@parley/mcp/transport";
import type { CalledConnection } from "../calls/called-connection.js";
import { performRequest } from "../calls/perform-request.js";
import type { CallRequest } from "../contract/calls.js";
import type { ComparedCall } from "../contract/timeline.js";
import { shownProblem } from "../engine/shown-problem.js";
import { openUntilCancelled } from "../keep/open-until-cancelled.js";
import type { TimelineLimits } from "../timeline/entry-ring.js";
import { Timeline } from "../timeline/timeline.js";

/** A connection as far as a comparison needs it. */
export interface ComparedConnection extends Omit<CalledConnection, "client"> {
  /** Opens a further client for the same target, whose messages are not in the timeline; the user answers its questions. */
  openAnother(options: ClientOptions): Promise<Client>;
}

/** One run, and what came of it. */
export interface RevisionRun {
  readonly call: ComparedCall;
  /** The result, or an object with the message of the error. */
  readonly result: unknown;
}

/** Messages of one run that are kept: a call with questions has some twenty, one with progress more. */
const LIMITS: TimelineLimits = { entries: 500, bytes: 4 * 1024 * 1024 };
/** A user may think about a question for as long. */
const IDLE_MS = 600_000;

/** Performs a request over a fresh connection in one revision. Never rejects: a failure is an outcome, and so is the abort of the signal. */
export async function runInRevision(
  connection: ComparedConnection,
  request: CallRequest,
  { revision, signal }: { readonly revision: Revision; readonly signal: AbortSignal },
): Promise<RevisionRun> {
  const timeline = new Timeline(LIMITS);
  const { id, extensions, info } = connection;
  let [client, startedMs]: [Client | undefined, number] = [undefined, 0];
  const ended = (outcome: Pick<ComparedCall, "outcome" | "problem">, result: unknown): RevisionRun => ({
    call: { revision, ...outcome, durationMs: timeline.now() - startedMs, entries: entriesOf(timeline) },
    result,
  });
  try {
    const onMessage = (wire: WireMessage) =>
      void timeline.addMessage({ connection: id, wire, revision, wanted: revision });
    const options: ClientOptions = { revisions: [revision], timeouts: { idleMs: IDLE_MS }, onMessage };
    client = await openUntilCancelled(connection, options, signal);
    startedMs = timeline.now();
    const { era } = shownRevision(revision);
    const called = { id, extensions, info: { ...info, era }, client };
    const result = await performRequest(called, request, { signal, onProgress: () => {}, onTask: () => {} });
    return ended({ outcome: "isError" in result && result.isError === true ? "failed" : "done" }, result);
  } catch (reason) {
    const { message, fix = "" } = shownProblem(reason);
    return ended(
      {
        outcome: signal.aborted ? "cancelled" : "failed",
        problem: fix === "" ? message : `${message.replace(/\.$/, "")}. ${fix}`,
      },
      { error: message },
    );
  } finally {
    await client?.close().catch(() => undefined);
  }
}

function entriesOf(timeline: Timeline): ComparedCall["entries"] {
  return timeline.summaries(0, LIMITS.entries).map(({ seq }) => timeline.detail(seq));
}
