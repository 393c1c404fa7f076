import type { CallInfo } from "../../src/contract/calls.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import { connectionName, STATUS_WORDS } from "../connect/connection-name.js";
import { formatMs } from "../parts/format-ms.js";

/**
 * Describes the changes between two states for screen readers. Undefined if nothing changed that is worth an
 * announcement.
 */
export function describeChanges(before: InspectorState | undefined, now: InspectorState): string | undefined {
  if (before === undefined) return undefined;
  const statuses = new Map(before.connections.map(({ id, status }) => [id, status]));
  const connections = now.connections
    .filter(({ id, status }) => statuses.get(id) !== status)
    .map((connection) => `${connectionName(connection)}: ${STATUS_WORDS[connection.status]}`);
  const running = new Set(before.calls.filter(({ status }) => status === "running").map(({ id }) => id));
  const calls = now.calls.filter(({ id, status }) => running.has(id) && status !== "running").map(endOf);
  const asked = now.questions.length > before.questions.length ? [waitingQuestions(now.questions.length)] : [];
  const words = [...connections, ...calls, ...asked].join(". ");
  return words === "" ? undefined : words;
}

const endOf = ({ name, status, durationMs }: CallInfo) =>
  `${name}: ${status}${durationMs === undefined ? "" : ` after ${formatMs(durationMs)}`}`;

/** The number of waiting questions, in words. */
export const waitingQuestions = (count: number) =>
  count === 1 ? "1 question is waiting" : `${count} questions are waiting`;
