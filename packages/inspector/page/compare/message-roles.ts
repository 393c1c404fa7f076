import type { CallRequest } from "../../src/contract/calls.js";
import { type EntryDetail, HANDSHAKE_METHODS } from "../../src/contract/timeline.js";

/** The roles of the messages in a call, in display order. */
export const ROLES = ["handshake", "request", "questions", "notifications", "answer", "other"] as const;
export type Role = (typeof ROLES)[number];

const METHODS: Readonly<Partial<Record<CallRequest["kind"], string>>> = {
  tool: "tools/call",
  prompt: "prompts/get",
  resource: "resources/read",
  skill: "skills/get",
};

/** Sorts the messages of one run by role, so that two eras can be aligned. */
export function messagesByRole(
  entries: readonly EntryDetail[],
  request: CallRequest,
): Readonly<Record<Role, readonly EntryDetail[]>> {
  const method = request.kind === "request" ? request.method : METHODS[request.kind];
  const own = entries.filter(({ summary }) => summary.label === method && summary.kind !== "notification");
  const first = own.find(({ summary }) => summary.direction === "sent");
  const last = own.findLast(({ summary }) => summary.direction === "received" && summary.answers !== undefined);
  const roleOf = (entry: EntryDetail): Role => {
    const { label, kind, direction } = entry.summary;
    if (HANDSHAKE_METHODS.has(label)) return "handshake";
    if (kind === "notification") return "notifications";
    if (entry === first) return "request";
    if (entry === last) return "answer";
    // Later rounds of the same request carry questions and answers. So do requests from the server and their responses.
    const ofServer = (kind === "request") === (direction === "received");
    return own.includes(entry) || ofServer ? "questions" : "other";
  };
  const byRole: Record<Role, EntryDetail[]> = {
    handshake: [],
    request: [],
    questions: [],
    notifications: [],
    answer: [],
    other: [],
  };
  for (const entry of entries) byRole[roleOf(entry)].push(entry);
  return byRole;
}
