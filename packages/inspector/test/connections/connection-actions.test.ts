import { Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { MAX_CONNECTIONS } from "../../src/connections/connections.js";
import { driveEngine, ERAS, serverTarget } from "../engine/opened-engine.js";

const plain = new Server({ name: "plain", version: "1" }).tool("one", () => "1");

describe("actions about connections", () => {
  it("connect to what the terminal offers, as often as wanted, and to nothing else", async () => {
    const { engine, act, reaches } = driveEngine({ targets: [serverTarget(plain)] });
    expect(engine.state().targets).toEqual([{ id: "target-1", kind: "server", shown: "a server of this process" }]);
    for (const id of ["c1", "c2"]) {
      expect(await act("connect", { target: "target-1" })).toEqual({ connection: id });
      await reaches(id, "ready");
    }
    const hostile = ["target-2", "", "constructor", "__proto__", "node evil.js", { command: "evil" }, ["node"], null];
    for (const target of hostile) {
      await expect(act("connect", { target: target as string })).rejects.toMatchObject({ kind: "invalid_params" });
    }
    expect(engine.state().connections).toHaveLength(2);
  });

  it("refuse addresses that are none of a server", async () => {
    const { engine, act } = driveEngine();
    const refused = [
      "file:///etc/passwd",
      "javascript:alert(1)",
      "data:text/html,x",
      "stdio:node",
      "ws://127.0.0.1/",
      "ftp://127.0.0.1/",
      "unix:/run/docker.sock",
      "http://user:secret@127.0.0.1/mcp",
      "http://token@127.0.0.1/mcp",
      "http://",
      "/mcp",
      "node server.js",
      "",
      `http://127.0.0.1/${"x".repeat(9_000)}`,
    ];
    for (const url of refused) {
      await expect(act("connectUrl", { url }), url).rejects.toMatchObject({ kind: "invalid_params" });
    }
    expect(engine.state().connections).toEqual([]);
  });

  it("refuse headers that could change the request", async () => {
    const { engine, act } = driveEngine();
    const refused: Record<string, string>[] = [
      { host: "elsewhere" },
      { Host: "elsewhere" },
      { "content-length": "0" },
      { "transfer-encoding": "chunked" },
      { connection: "upgrade" },
      { "mcp-session-id": "x" },
      { "proxy-authorization": "x" },
      { "x-a": "b\r\nhost: elsewhere" },
      { "x-a": "b\nc" },
      { "x-a": "b\0c" },
      { "x-a\r\nhost": "b" },
      { "x a": "b" },
      { "": "b" },
      { "x-a": "y".repeat(20_000) },
      Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`x-${at}`, "y"])),
    ];
    for (const headers of refused) {
      const given = act("connectUrl", { url: "http://127.0.0.1:1/", headers });
      await expect(given, JSON.stringify(headers).slice(0, 50)).rejects.toMatchObject({ kind: "invalid_params" });
    }
    const wrong = { url: "http://127.0.0.1:1/", headers: { "x-a": 1 } } as never;
    await expect(act("connectUrl", wrong)).rejects.toMatchObject({ kind: "invalid_params" });
    expect(engine.state().connections).toEqual([]);
  });

  it("refuse revisions and transports that do not exist", async () => {
    const { act } = driveEngine({ targets: [serverTarget(plain)] });
    const url = "http://127.0.0.1:1/";
    await expect(act("connectUrl", { url, transport: "stdio" as never })).rejects.toMatchObject({
      kind: "invalid_params",
    });
    await expect(act("connect", { target: "target-1", revision: "1999-01-01" as never })).rejects.toMatchObject({
      kind: "invalid_params",
    });
  });

  it.each(["sesame-open", "sesame/open+now==", "sesame%2Fopen%21"])(
    "show no secret of an address: %s",
    async (secret) => {
      const { engine, act } = driveEngine();
      await act("connectUrl", { url: `http://127.0.0.1:1/mcp?api_key=${secret}&page=2` });
      const { shown } = engine.state().connections[0]?.target ?? {};
      expect(shown).toBe("http://127.0.0.1:1/mcp?api_key=[redacted]&page=2");
      expect(JSON.stringify([engine.state(), engine.entries(0, 100)])).not.toContain("sesame");
    },
  );

  it("keep the number of connections bounded", async () => {
    const { engine, act, reaches } = driveEngine({ targets: [serverTarget(plain)] });
    for (let at = 0; at < MAX_CONNECTIONS; at++) await act("connect", { target: "target-1" });
    await expect(act("connect", { target: "target-1" })).rejects.toMatchObject({ kind: "limit_exceeded" });
    await reaches("c1", "ready");
    await expect(act("forget", { connection: "c1" })).rejects.toMatchObject({ kind: "invalid_params" });
    await act("disconnect", { connection: "c1" });
    await act("forget", { connection: "c1" });
    expect(await act("connect", { target: "target-1" })).toEqual({ connection: `c${MAX_CONNECTIONS + 1}` });
    expect(engine.state().connections).toHaveLength(MAX_CONNECTIONS);
  });
});

describe.each(ERAS)("in %s", (revision) => {
  it("roots are declared from the start, and the server gets those of the user", async () => {
    const server = new Server({ name: "rooted", version: "1" }).tool("roots", async (_, ctx) =>
      JSON.stringify(await ctx.roots()),
    );
    const { engine, act, reaches, when } = driveEngine({ targets: [serverTarget(server)], revision });
    engine.connectTargets();
    await reaches("c1", "ready");
    const roots = [{ uri: "file:///work", name: "work" }];
    await act("setRoots", { connection: "c1", roots });
    expect(engine.state().connections[0]?.roots).toEqual(roots);
    const { call } = await act("call", { connection: "c1", request: { kind: "tool", name: "roots", arguments: {} } });
    await when(({ calls }) => calls.some(({ id, status }) => id === call && status === "done"));
    const { result } = await act("outcome", { call });
    expect(JSON.stringify(result)).toContain("file:///work");
    for (const wrong of [[{ uri: "https://x/" }], [{ uri: "file" }], [{}], ["x"], new Array(101).fill(roots[0])]) {
      await expect(act("setRoots", { connection: "c1", roots: wrong as never })).rejects.toMatchObject({
        kind: "invalid_params",
      });
    }
    await act("reopen", { connection: "c1" });
    await reaches("c1", "ready");
    expect(engine.state().connections[0]?.roots).toEqual(roots);
  });

  it("the level of log messages is asked for, and kept when the connection is opened again", async () => {
    const server = new Server({ name: "logging", version: "1" }).tool("log", (_, ctx) => {
      ctx.log("debug", "a detail");
      return "logged";
    });
    const { engine, act, reaches, when } = driveEngine({ targets: [serverTarget(server)], revision });
    engine.connectTargets();
    await reaches("c1", "ready");
    await act("setLogLevel", { connection: "c1", level: "debug" });
    await act("reopen", { connection: "c1" });
    expect(await reaches("c1", "ready")).toMatchObject({ logLevel: "debug" });
    await act("call", { connection: "c1", request: { kind: "tool", name: "log", arguments: {} } });
    const logged = await when(() => engine.entries(0, 1_000).find(({ label }) => label === "notifications/message"));
    expect(logged.call).toBe("call-1");
    await expect(act("setLogLevel", { connection: "c1", level: "loud" as never })).rejects.toMatchObject({
      kind: "invalid_params",
    });
  });
});
