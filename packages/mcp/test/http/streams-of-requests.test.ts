import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { eventsOf, MODERN_META, modern } from "./modern.js";
import { ADAPTERS, type Served } from "./serving.js";

// What the official suite has written down and not released: each behaviour by hand, on the wire.

interface Wire {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number };
}

const server = () =>
  new Server({ name: "t", version: "1" })
    .tool("log", {}, (_args, ctx) => {
      for (const level of ["debug", "info", "warning", "error"] as const) ctx.log(level, level);
      return "logged";
    })
    .tool("progress", {}, (_args, ctx) => {
      for (const value of [1, 2, 2, 1.5, 3]) ctx.progress(value, { total: 3, message: `step ${value}` });
      return "done";
    })
    .tool("visit", {}, async (_args, ctx) => {
      await ctx.elicitUrl("Sign in", "https://example.com/in");
      return "visited";
    });

/** The messages of one request of the newest revision, in order; the last one is its answer. */
async function exchange(served: Served, params: Record<string, unknown>, meta: object = {}): Promise<Wire[]> {
  const { headers } = modern("tools/call", params);
  const body = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { ...params, _meta: { ...MODERN_META, ...meta } },
  });
  const response = await served.fetch(new Request(served.url, { method: "POST", headers, body }));
  const text = await response.text();
  if (response.headers.get("content-type")?.startsWith("application/json")) return [JSON.parse(text)];
  return eventsOf(text).flatMap(({ data }) => (data === "" ? [] : [JSON.parse(data) as Wire]));
}

describe.each(ADAPTERS)("a request through %s", (_name, start) => {
  it("has the log messages of its own level on its own stream, and none without one (LOG-04, LOG-05)", async () => {
    const served = await start(server());
    const level = (name: string) => ({ "io.modelcontextprotocol/logLevel": name });
    const all = await Promise.all([
      exchange(served, { name: "log" }),
      exchange(served, { name: "log" }, level("warning")),
      exchange(served, { name: "log" }, level("debug")),
      exchange(served, { name: "log" }, level("emergency")),
    ]);
    const levels = all.map((messages) => messages.slice(0, -1).map(({ params }) => params?.["level"]));
    expect(levels).toEqual([[], ["warning", "error"], ["debug", "info", "warning", "error"], []]);
    for (const messages of all) expect(messages.at(-1)?.result?.["content"]).toMatchObject([{ text: "logged" }]);
    const [refused] = await exchange(served, { name: "log" }, level("loud"));
    expect(refused?.error?.code).toBe(-32602);
  });

  it.each([["token"], [7], [0], [""]])(
    "has progress under its own token %j, rising, before its answer, and none without one (PROG-02, PROG-03)",
    async (progressToken) => {
      const served = await start(server());
      const [asked, quiet] = await Promise.all([
        exchange(served, { name: "progress" }, { progressToken }),
        exchange(served, { name: "progress" }),
      ]);
      const reports = asked.slice(0, -1);
      expect(reports.map(({ method }) => method)).toEqual(reports.map(() => "notifications/progress"));
      expect(reports.map(({ params }) => params)).toEqual(
        [1, 2, 3].map((progress) => ({ progressToken, progress, total: 3, message: `step ${progress}` })),
      );
      expect(asked.at(-1)?.result?.["content"]).toMatchObject([{ text: "done" }]);
      expect(quiet).toHaveLength(1);
    },
  );

  it.each([
    ["accept", "visited"],
    ["decline", "the user did not open https://example.com/in"],
    ["cancel", "the user did not open https://example.com/in"],
  ])("asks for a visit without an id, and goes on when the user says %s (ELIC-11, ELIC-12)", async (action, said) => {
    const served = await start(server());
    const able = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } } };
    const [first] = await exchange(served, { name: "visit" }, able);
    const { resultType, inputRequests = {}, requestState } = first?.result ?? {};
    expect(resultType).toBe("input_required");
    const [[key = "", question] = []] = Object.entries(inputRequests as object);
    const params = { mode: "url", message: "Sign in", url: "https://example.com/in" };
    expect(question).toEqual({ method: "elicitation/create", params });
    const inputs = { inputResponses: { [key]: { action } }, requestState };
    const [second] = await exchange(served, { name: "visit", ...inputs }, able);
    expect(second?.result?.["content"]).toMatchObject([{ text: said }]);
    const [unable] = await exchange(served, { name: "visit" });
    expect(unable?.error?.code).toBe(-32021);
  });

  it("asks for a visit by a request with an id in a session (ELIC-11)", async () => {
    const served = await start(server());
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open("2025-11-25", { elicitation: { url: {} } });
    const stream = new EventReader(await client.call("visit"));
    const question = (await stream.message()) as Wire;
    expect(question).toMatchObject({
      method: "elicitation/create",
      params: { mode: "url", elicitationId: expect.any(String) },
    });
    const answer = await client.post({ jsonrpc: "2.0", id: question.id, result: { action: "accept" } });
    expect(answer.status).toBe(202);
    expect(await stream.message()).toMatchObject({ id: 1, result: { content: [{ text: "visited" }] } });
  });

  const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
  it.each(["2024-11-05", "2025-06-18", "2025-11-25"])(
    "is refused in an array in a session of %s, which goes on (BASE-13)",
    async (revision) => {
      const served = await start(server());
      const client = new LegacyClient(served.url, { fetch: served.fetch });
      await client.open(revision);
      for (const batch of [[], [ping(1)], [ping(1), ping(2)], [{ jsonrpc: "2.0", method: "notifications/x" }]]) {
        const reply = await client.post(batch);
        expect([reply.status, ((await reply.json()) as Wire).error?.code]).toEqual([400, -32600]);
      }
      expect(await (await client.post(ping(3))).json()).toMatchObject({ id: 3, result: {} });
    },
  );

  it("is refused in an array in the newest revision (BASE-13)", async () => {
    const served = await start(server());
    const { headers, body } = modern("tools/list");
    for (const batch of ["[]", `[${body}]`, `[${body},${body}]`]) {
      const reply = await served.fetch(new Request(served.url, { method: "POST", headers, body: batch }));
      expect([reply.status, ((await reply.json()) as Wire).error?.code]).toEqual([400, -32600]);
    }
  });
});
