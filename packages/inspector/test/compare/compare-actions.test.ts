import { type Client, connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import type { CallRequest } from "../../src/contract/calls.js";
import { type DrivenEngine, driveEngine, type ERAS, serverTarget } from "../engine/opened-engine.js";

const quiet = { onError: () => {}, platform: { warn: () => {} } };
const REVISIONS = ["2025-11-25", "2026-07-28"] as const satisfies typeof ERAS;

async function connected(server: Server): Promise<[driven: DrivenEngine, connection: string]> {
  const driven = driveEngine({ targets: [serverTarget(server)] });
  const { connection } = await driven.act("connect", { target: "target-1" });
  await driven.reaches(connection, "ready");
  return [driven, connection];
}

const toolCall = (name: string, args = {}): CallRequest => ({ kind: "tool", name, arguments: args });

describe("the same call in both eras", () => {
  it("has the same result, and other messages around it", async () => {
    const [driven, connection] = await connected(everything);
    const request = toolCall("sum", { numbers: [1, 2] });
    const { calls, differences } = await driven.act("compare", { connection, request, revisions: REVISIONS });
    expect(differences).toEqual([]);
    expect(calls.map(({ revision, outcome }) => [revision, outcome])).toEqual(REVISIONS.map((one) => [one, "done"]));
    const [old, recent] = calls.map(({ entries }) => entries.map(({ summary }) => summary.label));
    expect(old).toContain("initialize");
    expect(recent).not.toContain("initialize");
    for (const { entries, durationMs } of calls) {
      const answer = entries.find(({ summary }) => summary.label === "tools/call" && summary.kind === "result");
      expect(answer?.summary.latencyMs).toBeGreaterThanOrEqual(0);
      expect(answer?.text).toContain('"content"');
      expect(entries.every(({ problems, definition }) => problems.length === 0 && definition !== undefined)).toBe(true);
      expect(durationMs).toBeGreaterThan(0);
    }
    // It has connections of its own, and leaves the timeline alone.
    expect(driven.entries().filter(({ label }) => label === "tools/call")).toEqual([]);
  });

  it("asks the user the questions of both", async () => {
    const [driven, connection] = await connected(everything);
    const compared = driven.act("compare", {
      connection,
      request: toolCall("survey"),
      revisions: REVISIONS,
    });
    const answered = new Set<string>();
    const settled = compared.then(() => true as const);
    for (let done = false; !done; ) {
      const question = driven.when(({ questions }) => questions.find(({ id }) => !answered.has(id)));
      const next = await Promise.race([settled, question]);
      done = next === true;
      if (next === true) continue;
      answered.add(next.id);
      await driven.act("answer", { question: next.id, answer: { action: "decline" } });
    }
    const { calls } = await compared;
    expect(answered.size).toBeGreaterThanOrEqual(2);
    const [old, recent] = calls.map(({ entries }) => entries.map(({ summary }) => summary.label));
    expect(old).toContain("elicitation/create");
    expect(recent).not.toContain("elicitation/create");
    expect(recent?.filter((label) => label === "tools/call").length).toBeGreaterThan(2);
  });

  it("shows where results differ", async () => {
    let calls = 0;
    const server = new Server({ name: "counter", version: "1" }, quiet).tool("count", {}, () => `call ${++calls}`);
    const [driven, connection] = await connected(server);
    const { differences } = await driven.act("compare", {
      connection,
      request: toolCall("count"),
      revisions: REVISIONS,
    });
    expect(differences).toEqual([{ path: "content.0.text", left: "call 1", right: "call 2" }]);
  });

  it("fails where the server does not speak a revision, and goes on with the other", async () => {
    const server = new Server({ name: "old", version: "1" }, quiet).tool("hello", {}, () => "hello");
    const target = {
      kind: "server",
      shown: "an old server",
      open: async (options) => {
        if (options.revisions?.includes("2026-07-28")) throw new Error("the server speaks 2025-11-25 alone");
        return connect(server, { ...options, revisions: ["2025-11-25"] });
      },
    } as const satisfies ReturnType<typeof serverTarget>;
    const driven = driveEngine({ targets: [target] });
    const { connection } = await driven.act("connect", { target: "target-1" });
    await driven.reaches(connection, "ready");
    const { calls, differences } = await driven.act("compare", {
      connection,
      request: toolCall("hello"),
      revisions: ["2026-07-28", "2025-11-25"],
    });
    expect(calls.map(({ outcome }) => outcome)).toEqual(["failed", "done"]);
    expect(calls[0]).toMatchObject({ entries: [], problem: expect.stringContaining("speaks 2025-11-25 alone") });
    expect(differences.length).toBeGreaterThan(0);
  });

  it("tells of tools that fail and of requests that are refused", async () => {
    const [driven, connection] = await connected(everything);
    const failed = await driven.act("compare", { connection, request: toolCall("fail"), revisions: REVISIONS });
    expect(failed.calls.map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
    const request = { kind: "resource", uri: "nowhere://at-all" } as const;
    const refused = await driven.act("compare", { connection, request, revisions: REVISIONS });
    expect(refused.calls.map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
    expect(refused.calls[0]?.problem).toContain("nowhere://at-all");
    const unknown = { kind: "request", method: "no/such", params: {} } as const;
    const { calls } = await driven.act("compare", { connection, request: unknown, revisions: REVISIONS });
    for (const { problem } of calls) expect(problem).toContain("; the view Server shows them.");
  });

  it("is given up when its connection is closed, and leaves no client behind", async () => {
    const server = new Server({ name: "slow", version: "1" }, quiet).tool("hello", {}, () => "hello");
    const late: Client[] = [];
    let opened = 0;
    let go = () => {};
    const target = {
      ...serverTarget(server),
      open: async (options) => {
        opened += 1;
        if (opened === 1) return connect(server, options);
        // Stands for a program that has started when it is too late.
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        const { signal: _unheard, ...others } = options;
        const client = await connect(server, others);
        late.push(client);
        return client;
      },
    } as const satisfies ReturnType<typeof serverTarget>;
    const driven = driveEngine({ targets: [target] });
    const { connection } = await driven.act("connect", { target: "target-1" });
    await driven.reaches(connection, "ready");
    const compared = driven.act("compare", { connection, request: toolCall("hello"), revisions: REVISIONS });
    await expect.poll(() => opened).toBe(2);
    const closed = driven.act("disconnect", { connection });
    go();
    await closed;
    expect(late.map(({ state }) => state)).toEqual(["closed"]);
    const { calls } = await compared;
    expect(calls.map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
    expect(opened).toBe(2);
  });

  it("runs once at a time", async () => {
    const [driven, connection] = await connected(everything);
    const input = { connection, request: toolCall("sum", { numbers: [1] }), revisions: REVISIONS };
    const first = driven.act("compare", input);
    await expect(driven.act("compare", input)).rejects.toMatchObject({ kind: "limit_exceeded" });
    await first;
    expect((await driven.act("compare", input)).calls).toHaveLength(2);
  });

  it.each([
    { connection: "c1", request: { kind: "tool", name: "sum", arguments: {} }, revisions: ["2025-11-25"] },
    {
      connection: "c1",
      request: { kind: "tool", name: "sum", arguments: {} },
      revisions: ["1999-01-01", "2026-07-28"],
    },
    { connection: "c1", request: { kind: "rm", name: "sum" }, revisions: REVISIONS },
    { connection: "c7", request: { kind: "tool", name: "sum", arguments: {} }, revisions: REVISIONS },
    { request: { kind: "tool", name: "sum", arguments: {} }, revisions: REVISIONS },
  ])("is not made of %j", async (input) => {
    const [driven] = await connected(everything);
    // The page is not to be trusted with its types.
    await expect(driven.act("compare", input as never)).rejects.toMatchObject({ kind: "invalid_params" });
  });
});
