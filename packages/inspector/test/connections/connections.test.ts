import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { Server } from "@parley/mcp";
import { memoryTokenStore } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { server as everything } from "../../../../examples/everything/server.js";
import { freePort } from "../../../mcp/test/free-port.js";
import { bundleFixture } from "../../../mcp/test/stdio/bundle-fixture.js";
import { eventually, isRunning } from "../../../mcp/test/stdio/processes.js";
import { urlTarget } from "../../src/connections/connection-actions.js";
import { Connections } from "../../src/connections/connections.js";
import type { InspectorTarget } from "../../src/connections/inspector-target.js";
import { Timeline } from "../../src/timeline/timeline.js";
import { driveEngine, ERAS, programTarget, serverTarget } from "../engine/opened-engine.js";
import { startHostileServer } from "../hostile/hostile-server.js";

const PROGRAM = fileURLToPath(new URL("./program-server.mjs", import.meta.url));

/** Connections alone, which give up a handshake early. */
function impatient(connectMs: number) {
  const timeline = new Timeline();
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of waiting) look();
  };
  const answerers = () => ({});
  const onlyCall = () => undefined;
  const connections = new Connections([], {
    timeline,
    changed,
    answerers,
    onlyCall,
    tokens: memoryTokenStore(),
    connectMs,
  });
  onTestFinished(() => connections.close());
  const opened = async (target: InspectorTarget) => {
    const connection = connections.connectTo(target);
    await new Promise<void>((resolve) => {
      const look = () => connection.info.status !== "connecting" && resolve();
      waiting.add(look);
      look();
    });
    return connection.info;
  };
  return { opened };
}

describe.each(ERAS)("a connection in %s", (revision) => {
  it("to a server of this process shows who it is and what passes", async () => {
    const { engine, reaches, entries } = driveEngine({ targets: [serverTarget(everything)], revision });
    engine.connectTargets();
    const info = await reaches("c1", "ready");
    expect(info).toMatchObject({ revision, wanted: revision, opened: 1, server: { name: "everything" } });
    expect(info.era).toBe(revision === "2025-11-25" ? "stateful" : "stateless");
    expect(Object.keys(info.lists)).toEqual(["tools", "resources", "templates", "prompts"]);
    const kinds = new Set(entries().map(({ kind }) => kind));
    expect(kinds).toEqual(
      new Set(["event", "request", "result", ...(revision === "2025-11-25" ? ["notification"] : [])]),
    );
    expect(entries().filter(({ problems }) => problems > 0)).toEqual([]);
    expect(entries().filter(({ failed }) => failed)).toEqual([]);
  });

  it("over HTTP shows the headers of every message, without secrets", async () => {
    const handle = await serveHttp(everything, { port: 0 });
    onTestFinished(() => handle.close());
    const { act, reaches, entries } = driveEngine();
    const headers = { "x-api-key": "very-secret-value", "x-plain": "blue" };
    const { connection } = await act("connectUrl", { url: handle.url, revision, headers });
    await reaches(connection, "ready");
    await act("list", { connection, kind: "tools" });
    const asked = entries().find(({ label, kind }) => label === "tools/list" && kind === "request");
    const answered = entries().find(({ label, kind }) => label === "tools/list" && kind === "result");
    const { http } = await act("entry", { seq: asked?.seq ?? 0 });
    expect(http).toMatchObject({ method: "POST", url: handle.url, status: 200 });
    expect(http?.requestHeaders).toMatchObject({ "x-api-key": "[redacted]", "x-plain": "blue" });
    expect(http?.requestHeaders["mcp-protocol-version"]).toBe(revision);
    expect(http?.responseHeaders?.["content-type"]).toMatch(/json|event-stream/);
    expect((await act("entry", { seq: answered?.seq ?? 0 })).http?.status).toBe(200);
    const all = await Promise.all(entries().map(({ seq }) => act("entry", { seq })));
    expect(JSON.stringify(all)).not.toContain("very-secret-value");
    const sessions = all.map((entry) => entry.http?.requestHeaders["mcp-session-id"]).filter((id) => id !== undefined);
    expect(sessions.every((id) => id === "[redacted]")).toBe(true);
    expect(sessions.length > 0).toBe(revision === "2025-11-25");
  });

  it("to a program is closed with the engine", async () => {
    const file = await bundleFixture(new URL("../../../../examples/everything/main.ts", import.meta.url));
    const { engine, act, reaches } = driveEngine({ targets: [programTarget(file, "--stdio")], revision });
    engine.connectTargets();
    expect(await reaches("c1", "ready")).toMatchObject({ revision, server: { name: "everything" } });
    const { call } = await act("call", {
      connection: "c1",
      request: { kind: "tool", name: "sum", arguments: { numbers: [1, 2] } },
    });
    expect(call).toBe("call-1");
    await engine.close();
    expect(engine.state().connections[0]?.status).toBe("closed");
  });

  it("hears of changed lists", async () => {
    const server = new Server({ name: "changing", version: "1" }).tool("one", () => "1");
    const { engine, reaches, when } = driveEngine({ targets: [serverTarget(server)], revision });
    engine.connectTargets();
    const { lists } = await reaches("c1", "ready");
    // In one era the server is asked to announce changes, which takes a moment.
    const offered = await when(() => {
      server.tool(`more-${Math.random()}`, () => "2");
      return engine.state().connections.find((one) => (one.lists.tools ?? 0) > (lists.tools ?? 0));
    });
    expect(offered.lists.prompts).toBe(lists.prompts);
  });
});

describe("a connection", () => {
  it("that is lost is shown as such, and opened again", async () => {
    const { engine, act, reaches, when, entries } = driveEngine({ targets: [programTarget(PROGRAM)] });
    engine.connectTargets();
    await reaches("c1", "ready");
    const pids = () => entries().flatMap(({ label }) => /started as (\d+)/.exec(label)?.[1] ?? []);
    const [first] = await when(() => pids().length === 1 && pids());
    process.kill(Number(first), "SIGKILL");
    expect(await reaches("c1", "lost")).toMatchObject({ opened: 1, problem: { kind: "connection_closed" } });
    const again = await when(({ connections }) =>
      connections.find(({ status, opened }) => status === "ready" && opened === 2),
    );
    expect(again.problem).toBeUndefined();
    expect(entries().map(({ label }) => label)).toContain("connected again in 2025-11-25");
    const [, second] = await when(() => pids().length === 2 && pids());
    expect(second).not.toBe(first);
    await act("disconnect", { connection: "c1" });
    expect(await eventually(() => !isRunning(Number(second)))).toBe(true);
    expect(engine.state().connections[0]?.status).toBe("closed");
  });

  it("keeps ids of a connection that was opened again apart from those before", async () => {
    const { engine, act, reaches, entries } = driveEngine({ targets: [programTarget(PROGRAM)] });
    engine.connectTargets();
    await reaches("c1", "ready");
    await act("reopen", { connection: "c1" });
    await reaches("c1", "connecting");
    await reaches("c1", "ready");
    const greetings = entries().filter(({ label, kind }) => label === "initialize" && kind === "result");
    expect(new Set(greetings.map(({ answers }) => answers)).size).toBe(2);
  });

  it("is opened in another revision, and then negotiated again", async () => {
    const { engine, act, reaches } = driveEngine({ targets: [serverTarget(everything)] });
    engine.connectTargets();
    expect(await reaches("c1", "ready")).toMatchObject({ revision: "2026-07-28", era: "stateless" });
    await act("reopen", { connection: "c1", revision: "2025-06-18" });
    // A page that knows the lists of before must see that they may be others now.
    expect((await reaches("c1", "ready")).lists.tools).toBe(2);
    expect(await reaches("c1", "ready")).toMatchObject({
      revision: "2025-06-18",
      era: "stateful",
      wanted: "2025-06-18",
    });
    await act("reopen", { connection: "c1" });
    expect(await reaches("c1", "ready")).toMatchObject({ revision: "2025-06-18", opened: 3 });
    await act("reopen", { connection: "c1", revision: null });
    const negotiated = await reaches("c1", "ready");
    expect([negotiated.revision, negotiated.wanted]).toEqual(["2026-07-28", undefined]);
  });

  it("that fails says what to change", async () => {
    const port = await freePort();
    const { act, reaches } = driveEngine();
    const { connection } = await act("connectUrl", { url: `http://127.0.0.1:${port}/mcp` });
    const { problem } = await reaches(connection, "failed");
    expect(problem).toMatchObject({ kind: "connect_failed", fix: expect.stringMatching(/./) });
    await expect(act("list", { connection, kind: "tools" })).rejects.toMatchObject({ kind: "connection_closed" });
    await act("forget", { connection });
    await expect(act("disconnect", { connection })).rejects.toMatchObject({ kind: "invalid_params" });
  });

  it("over HTTP whose session the server forgot is opened again", async () => {
    const port = await freePort();
    const first = await serveHttp(everything, { port });
    const { act, reaches, when } = driveEngine();
    const { connection } = await act("connectUrl", { url: first.url, revision: "2025-11-25" });
    await reaches(connection, "ready");
    await first.close();
    const second = await serveHttp(everything, { port });
    onTestFinished(() => second.close());
    // It may fail: the first that is noticed is a socket that the former server closed, and nothing is sent more than twice.
    await act("list", { connection, kind: "tools", refresh: true }).catch(() => undefined);
    const info = await when(({ connections }) =>
      connections.find(({ status, opened }) => status === "ready" && opened > 1),
    );
    expect(info.lists.tools).toBeGreaterThan(1);
  });

  it("over the older transport with its own stream shows the exchanges of messages too", async () => {
    const handle = await serveHttp(everything, { port: 0, legacySse: {} });
    onTestFinished(() => handle.close());
    const { act, reaches, entries } = driveEngine();
    const url = handle.url.replace(/\/mcp$/, "/sse");
    const { connection } = await act("connectUrl", { url, transport: "sse" });
    expect(await reaches(connection, "ready")).toMatchObject({ era: "stateful" });
    await act("list", { connection, kind: "tools" });
    expect(entries().find(({ kind }) => kind === "http")?.label).toMatch(/^GET .*\/sse: HTTP 200$/);
    const asked = entries().find(({ label, kind }) => label === "tools/list" && kind === "request");
    // The answer is on the stream, and may be there before that of the exchange.
    await expect
      .poll(async () => (await act("entry", { seq: asked?.seq ?? 0 })).http)
      .toMatchObject({ method: "POST", status: 202 });
  });

  it("does not count it as a failure that a server has no stream of its own", async () => {
    const hostile = await startHostileServer();
    onTestFinished(() => hostile.close());
    const { act, reaches, when, entries } = driveEngine();
    const { connection } = await act("connectUrl", { url: hostile.url, revision: "2025-11-25" });
    await reaches(connection, "ready");
    const declined = await when(() => entries().find(({ label }) => label.endsWith("HTTP 405")));
    expect(declined).toMatchObject({ kind: "http", failed: false });
  });

  it("to something that is no server says so", async () => {
    const page = createServer((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>hello"),
    );
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void page.close());
    const { act, reaches, entries } = driveEngine();
    // Listening on a port, so the address is no path.
    const { port } = page.address() as AddressInfo;
    const { connection } = await act("connectUrl", { url: `http://127.0.0.1:${port}/` });
    expect((await reaches(connection, "failed")).problem?.fix).toMatch(/./);
    const { http } = await act("entry", { seq: entries().find(({ kind }) => kind === "request")?.seq ?? 0 });
    expect(http).toMatchObject({ status: 200, responseHeaders: { "content-type": "text/html" } });
  });

  it("to a program that dies at once shows how it ended", async () => {
    const { engine, reaches, entries } = driveEngine({ targets: [programTarget(PROGRAM, "dies")] });
    engine.connectTargets();
    expect((await reaches("c1", "failed")).problem).toMatchObject({ message: expect.stringMatching(/3/) });
    expect(entries().some(({ kind, failed }) => kind === "event" && failed)).toBe(true);
  });

  it("to a program that prints something else shows it, also before the handshake", async () => {
    const { engine, act, reaches, when, entries } = driveEngine({ targets: [programTarget(PROGRAM, "greets")] });
    engine.connectTargets();
    await reaches("c1", "ready");
    const [greeting] = entries().filter(({ kind, failed }) => kind === "event" && failed);
    expect(greeting?.label).toMatch(/Welcome to the server!/);
    await act("list", { connection: "c1", kind: "tools" });
    await when(() => entries().some(({ kind, label }) => kind === "event" && label.includes("Listing the tools!")));
  });

  it("to a server that hangs is given up", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const { opened } = impatient(300);
    // Listening on a port, so the address is no path.
    const { port } = silent.address() as AddressInfo;
    const byUrl = await opened(urlTarget({ url: `http://127.0.0.1:${port}/` }));
    expect(byUrl).toMatchObject({ status: "failed", problem: { kind: "timeout", fix: expect.stringMatching(/./) } });
    const byProgram = await opened(programTarget(PROGRAM, "hangs"));
    expect(byProgram).toMatchObject({ status: "failed", problem: { kind: "connect_failed" } });
  });

  it("that is closed while it is opened leaves no program behind", async () => {
    const { engine, act, when, entries } = driveEngine({ targets: [programTarget(PROGRAM, "hangs")] });
    engine.connectTargets();
    const pid = await when(() => entries().flatMap(({ label }) => /started as (\d+)/.exec(label)?.[1] ?? [])[0]);
    await act("disconnect", { connection: "c1" });
    expect(engine.state().connections[0]).toMatchObject({ status: "closed" });
    expect(await eventually(() => !isRunning(Number(pid)))).toBe(true);
  });
});
