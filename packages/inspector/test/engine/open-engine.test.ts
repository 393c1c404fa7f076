import { readFileSync } from "node:fs";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { INSPECTOR_VERSION } from "../../src/engine/open-engine.js";
import { DEFAULT_TIMELINE_LIMITS } from "../../src/timeline/entry-ring.js";
import { FLOOD, startHostileServer } from "../hostile/hostile-server.js";
import { driveEngine, ERAS, serverTarget } from "./opened-engine.js";

describe.each(ERAS)("the entries of a call in %s", (revision) => {
  it.each(["in this process", "over HTTP"])("belong to it across its questions, %s", async (where) => {
    const handle = await serveHttp(everything, { port: 0 });
    onTestFinished(() => handle.close());
    const { engine, act, reaches, when, entries } = driveEngine({ targets: [serverTarget(everything)] });
    const { connection } =
      where === "over HTTP"
        ? await act("connectUrl", { url: handle.url, revision })
        : await act("connect", { target: "target-1", revision });
    await reaches(connection, "ready");
    await act("list", { connection, kind: "tools" });
    const { call } = await act("call", { connection, request: { kind: "tool", name: "buy", arguments: {} } });
    for (const content of [{ name: "Ada" }, { sure: true }]) {
      const [field] = Object.keys(content);
      const question = await when(({ questions }) =>
        questions.find((one) => JSON.stringify(one.question.params).includes(`"${field}"`)),
      );
      expect(question.call).toBe(call);
      await act("answer", { question: question.id, answer: { action: "accept", content } });
    }
    await when(({ calls }) => calls.some(({ id, status }) => id === call && status === "done"));
    const own = entries().filter((entry) => entry.call === call);
    const told = own.map(({ kind, label }) => `${kind} ${label}`);
    const round = ["request tools/call", "result tools/call"];
    const asked = ["request elicitation/create", "result elicitation/create"];
    const isStateful = engine.state().connections[0]?.era === "stateful";
    const [first, last] = round;
    const expected = isStateful ? [first, ...asked, ...asked, last] : [...round, ...round, ...round];
    expect(told).toEqual(expected);
    expect(own.every(({ about, label }) => about === "buy" || label !== "tools/call")).toBe(true);
    expect(entries().find(({ label }) => label === "tools/list")?.call).toBeUndefined();
    expect(entries().filter(({ problems }) => problems > 0)).toEqual([]);
  });

  it("can be copied in every form", async () => {
    const handle = await serveHttp(everything, { port: 0 });
    onTestFinished(() => handle.close());
    const { act, reaches, when, entries } = driveEngine();
    const headers = { authorization: "Bearer sesame-open-up-1" };
    const { connection } = await act("connectUrl", { url: handle.url, revision, headers });
    await reaches(connection, "ready");
    const request = { kind: "tool", name: "sum", arguments: { numbers: [4, 5] } } as const;
    const { call } = await act("call", { connection, request });
    await when(({ calls }) => calls.some(({ id, status }) => id === call && status === "done"));
    const own = entries().filter((entry) => entry.call === call && entry.kind !== "notification");
    expect(own.map(({ kind }) => kind)).toEqual(["request", "result"]);
    for (const { seq, kind } of own) {
      const text = async (form: "curl" | "parley" | "typescript" | "json") => (await act("copy", { seq, form })).text;
      expect(await text("curl")).toMatch(/^(?:SESSION=\$\()?curl/);
      expect(await text("parley")).toMatch(/parley call .*sum/s);
      expect(await text("typescript")).toMatch(/connect\(.*"sum"/s);
      expect(JSON.parse(await text("json"))).toHaveProperty(kind === "request" ? "method" : "result");
      for (const form of ["curl", "parley", "typescript"] as const) expect(await text(form)).not.toContain("sesame");
    }
    const event = entries().find(({ kind }) => kind === "event")?.seq ?? 0;
    for (const form of ["curl", "json"] as const) {
      await expect(act("copy", { seq: event, form })).rejects.toMatchObject({ kind: "invalid_params" });
    }
    await expect(act("copy", { seq: 0, form: "curl" })).rejects.toMatchObject({ kind: "invalid_params" });
  });
});

describe("the engine", () => {
  it("has a handler for every action, and its own version", () => {
    const { engine } = driveEngine();
    const source = readFileSync(new URL("../../src/contract/actions.ts", import.meta.url), "utf8");
    const actions = [...source.matchAll(/^ {2}(\w+): Action</gm)].map(([, name]) => name).sort();
    expect(Object.keys(engine.handlers).sort()).toEqual(actions);
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect([INSPECTOR_VERSION, engine.state().version]).toEqual([version, version]);
  });

  it("clears the timeline, whose numbers go on", async () => {
    const { engine, act, reaches, entries } = driveEngine({ targets: [serverTarget(everything)] });
    engine.connectTargets();
    await reaches("c1", "ready");
    const { next } = engine.state().timeline;
    // Looked at in the same step: the connection goes on to listen for changes.
    void engine.handlers.clear({});
    expect(entries()).toEqual([]);
    expect(engine.state().timeline).toEqual({ first: next, next, bytes: 0 });
    await expect(act("entry", { seq: next - 1 })).rejects.toMatchObject({ kind: "invalid_params" });
  });

  it("stays bounded and answers while a server sends 100,000 messages", async () => {
    const hostile = await startHostileServer();
    onTestFinished(() => hostile.close());
    const { engine, act, reaches, when, entries } = driveEngine();
    const { connection } = await act("connectUrl", { url: hostile.url });
    await reaches(connection, "ready");
    const { call } = await act("call", { connection, request: { kind: "tool", name: "flood", arguments: {} } });
    await when(({ timeline }) => timeline.next > 10_000);
    // While the messages come, other requests have their turn.
    await act("list", { connection, kind: "prompts" });
    const during = engine.state().timeline.next;
    await when(({ calls }) => calls.some(({ id, status }) => id === call && status !== "running"));
    const { first, next, bytes } = engine.state().timeline;
    expect(next).toBeGreaterThan(FLOOD);
    expect(during).toBeLessThan(FLOOD);
    expect(next - first).toBe(DEFAULT_TIMELINE_LIMITS.entries);
    expect(bytes).toBeLessThanOrEqual(DEFAULT_TIMELINE_LIMITS.bytes);
    expect(
      entries()
        .filter(({ label }) => label === "notifications/message")
        .every((entry) => entry.call === call),
    ).toBe(true);
  });

  it("connects to no more targets than there may be connections", () => {
    const { engine } = driveEngine({ targets: new Array(60).fill(serverTarget(everything)) });
    engine.connectTargets();
    expect(engine.state().targets).toHaveLength(60);
    expect(engine.state().connections).toHaveLength(50);
  });

  it("closes everything, and opens nothing afterwards", async () => {
    const closed: string[] = [];
    const server = new Server({ name: "plain", version: "1" });
    server.observe({ sessionClosed: () => void closed.push("session") });
    const { engine, act, reaches } = driveEngine({ targets: [serverTarget(server)], revision: "2025-11-25" });
    engine.connectTargets();
    await reaches("c1", "ready");
    await engine.close();
    expect(closed).toEqual(["session"]);
    await expect(act("connect", { target: "target-1" })).rejects.toMatchObject({ kind: "connection_closed" });
  });
});
