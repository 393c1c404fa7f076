import type { Client, ClientOptions } from "@parley/mcp";
import { McpError, REVISIONS, type Revision, shownRevision } from "@parley/mcp/protocol";
import { differencesOf } from "@parley/mcp/recording";
import type { WireMessage } from "@parley/mcp/transport";
import { readCallRequest } from "../calls/call-actions.js";
import type { CallableConnection } from "../calls/callable-connection.js";
import { performRequest } from "../calls/perform-request.js";
import type { ActionHandlers } from "../contract/actions.js";
import type { CallRequest } from "../contract/calls.js";
import type { ComparedCall, EraComparison } from "../contract/timeline.js";
import { toProblemInfo } from "../engine/problem-info.js";
import { isRecord, listOf, recordOf, textOf } from "../engine/read-input.js";
import { boundedValue } from "../sessions/bounded-value.js";
import type { CancellableRuns } from "../sessions/cancellable-runs.js";
import { openUntilCancelled } from "../sessions/open-until-cancelled.js";
import type { TimelineLimits } from "../timeline/entry-ring.js";
import { Timeline } from "../timeline/timeline.js";

/** Options of `compareActions`. */
interface CompareActionsOptions {
  readonly connections: { get(id: string): ComparedConnection };
  readonly runs: CancellableRuns;
}

/** Creates the action that makes the same call in two revisions, one after the other, and compares the results. */
export function compareActions({ connections, runs }: CompareActionsOptions): Pick<ActionHandlers, "compare"> {
  return {
    async compare(input) {
      const connection = connections.get(textOf(input, "connection"));
      const request = readCallRequest(recordOf(input, "request"));
      const [left, right] = revisionsOf(input);
      return runs.run("comparison", connection.id, async ({ signal, begin }) => {
        const inRevision = (call: number, revision: Revision) => {
          if (!signal.aborted) begin({ call, calls: 2, about: revision });
          return runInRevision(connection, request, { revision, signal });
        };
        const first = await inRevision(1, left);
        return comparisonOf(first, await inRevision(2, right));
      });
    },
  };
}

function comparisonOf(left: RevisionRun, right: RevisionRun): EraComparison {
  const calls = [left.call, right.call];
  if (calls.some(({ outcome }) => outcome === "cancelled")) return { calls, differences: [] };
  const differences = differencesOf(comparable(left.result), comparable(right.result));
  return {
    calls,
    differences: differences.map(({ path, recorded, now }) => ({
      path,
      left: boundedValue(recorded),
      right: boundedValue(now),
    })),
  };
}

/** Returns a result without the members that depend on the era. */
function comparable(result: unknown): unknown {
  if (!isRecord(result)) return result;
  const { _meta, resultType, ttlMs, cacheScope, ...rest } = result;
  return rest;
}

function revisionsOf(input: object): [Revision, Revision] {
  const [left, right, ...more] = listOf(input, "revisions").map((given) => REVISIONS.find((one) => one === given));
  if (left === undefined || right === undefined || more.length > 0) {
    throw new McpError("invalid_params", "`revisions` is not a pair of revisions", {
      fix: `Send two of: ${REVISIONS.join(", ")}.`,
    });
  }
  return [left, right];
}

/** The part of a connection that a comparison needs. */
interface ComparedConnection extends Omit<CallableConnection, "client"> {
  /**
   * Opens another client for the same target. The messages of this client are not in the timeline, and the user answers
   * the questions of its server.
   */
  openAnother(options: ClientOptions): Promise<Client>;
}

/** One call of the comparison, with its result. */
interface RevisionRun {
  readonly call: ComparedCall;
  /** The result, or an object with the error message. */
  readonly result: unknown;
}

/**
 * Limits on the stored messages of one run. Beyond a limit, the oldest messages are evicted. A call with questions has
 * about 20 messages, and a call with progress has more.
 */
const LIMITS: TimelineLimits = { entries: 500, bytes: 4 * 1024 * 1024 };
/** The idle timeout, which limits the time that the user has to answer a question. */
const IDLE_MS = 600_000;

/**
 * Sends a request over a new connection in one revision. Never rejects: the run reports a failure or an abort as its
 * outcome.
 */
async function runInRevision(
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
    const { message, fix = "" } = toProblemInfo(reason);
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
