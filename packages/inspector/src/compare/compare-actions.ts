import { McpError, REVISIONS, type Revision } from "@parley/mcp/protocol";
import { differencesOf } from "@parley/mcp/recording";
import { readCallRequest } from "../calls/call-actions.js";
import type { ActionHandlers } from "../contract/actions.js";
import type { EraComparison } from "../contract/timeline.js";
import { isRecord, listOf, recordOf, textOf } from "../engine/read-input.js";
import { boundedValue } from "../keep/bounded-value.js";
import type { CancellableRuns } from "../keep/cancellable-runs.js";
import { type ComparedConnection, type RevisionRun, runInRevision } from "./run-in-revision.js";

/** What the room needs of the others. */
export interface CompareActionsOptions {
  readonly connections: { get(id: string): ComparedConnection };
  readonly runs: CancellableRuns;
}

/** Calls the same in two revisions, one after the other, and compares what comes back. */
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

/** What of a result is the server's and not the era's. */
function comparable(result: unknown): unknown {
  if (!isRecord(result)) return result;
  const { _meta, resultType, ttlMs, cacheScope, ...rest } = result;
  return rest;
}

function revisionsOf(input: object): [Revision, Revision] {
  const [left, right, ...more] = listOf(input, "revisions").map((given) => REVISIONS.find((one) => one === given));
  if (left === undefined || right === undefined || more.length > 0) {
    throw new McpError("invalid_params", "`revisions` are not two revisions", {
      fix: `Send two of: ${REVISIONS.join(", ")}.`,
    });
  }
  return [left, right];
}
