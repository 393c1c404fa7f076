import { describe, expect, it } from "vitest";
import { messagesByRole, ROLES } from "../../page/compare/message-roles.js";
import type { CallRequest } from "../../src/contract/calls.js";
import type { EntryDetail } from "../../src/contract/timeline.js";
import { Timeline } from "../../src/timeline/timeline.js";

const request: CallRequest = { kind: "tool", name: "buy", arguments: {} };

/** Messages as they pass: `>` is sent by the client, `<` by the server. */
function entriesOf(messages: readonly (readonly [direction: ">" | "<", message: object])[]): EntryDetail[] {
  const timeline = new Timeline();
  const connection = {};
  return messages.map(([direction, message]) => {
    const wire = { message: { jsonrpc: "2.0", ...message }, connection } as const;
    const seq = timeline.addMessage({
      connection: "c1",
      wire: { ...wire, direction: direction === ">" ? "sent" : "received" },
    });
    return timeline.detail(seq);
  });
}

const rolesOf = (entries: readonly EntryDetail[]) => {
  const byRole = messagesByRole(entries, request);
  const all = ROLES.flatMap((role) => byRole[role].map((entry) => [entry.summary.seq, role] as const));
  return all.sort(([a], [b]) => a - b).map(([, role]) => role);
};

describe("the roles of messages", () => {
  it("are found where the server asks by requests", () => {
    const roles = rolesOf(
      entriesOf([
        [">", { id: 1, method: "initialize" }],
        ["<", { id: 1, result: {} }],
        [">", { method: "notifications/initialized" }],
        [">", { id: 2, method: "tools/list" }],
        ["<", { id: 2, result: { tools: [] } }],
        [">", { id: 3, method: "tools/call", params: { name: "buy" } }],
        ["<", { id: "a", method: "elicitation/create" }],
        [">", { id: "a", result: {} }],
        ["<", { method: "notifications/progress" }],
        ["<", { id: 3, result: { content: [] } }],
      ]),
    );
    expect(roles).toEqual([
      ...["handshake", "handshake", "handshake", "other", "other", "request", "questions", "questions"],
      ...["notifications", "answer"],
    ]);
  });

  it("are found where the server asks in rounds", () => {
    const roles = rolesOf(
      entriesOf([
        [">", { id: 1, method: "server/discover" }],
        ["<", { id: 1, result: {} }],
        [">", { id: 2, method: "tools/call", params: { name: "buy" } }],
        ["<", { id: 2, result: { resultType: "input_required" } }],
        [">", { id: 3, method: "tools/call", params: { name: "buy" } }],
        ["<", { id: 3, result: { content: [] } }],
      ]),
    );
    expect(roles).toEqual(["handshake", "handshake", "request", "questions", "questions", "answer"]);
  });
});
