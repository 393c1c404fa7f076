import { type Client, connect, Server, tool } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { TOOL_MODE, toolMode } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { LegacyClient } from "./legacy-client.js";
import { ADAPTERS } from "./serving.js";

const stateless = () =>
  new Server({ name: "s", version: "1" }).tool("add", { mode: "stateless" }, () => "3").prompt("p", {}, () => "text");
const counter = tool("count", {}, () => "1");
const asking = tool("ask", { mode: "stateless", requires: ["elicitation.form"] }, (_args, ctx) =>
  ctx.elicit("Name?", z.object({ name: z.string() })),
);

describe.each(ADAPTERS)('sessions: "auto" through %s', (_name, start) => {
  it("opens no session while every tool is stateless, and refuses the stream that belongs to one", async () => {
    const served = await start(stateless(), { sessions: "auto" });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    const opened = await client.open();
    expect(opened.status).toBe(200);
    expect(client.sessionId).toBeUndefined();
    expect((await (await client.call("add")).json()).result.content).toEqual([{ type: "text", text: "3" }]);
    expect((await client.get()).status).toBe(405);
    expect((await client.send("DELETE", {})).status).toBe(405);
  });

  it("promises nothing that only a session can keep", async () => {
    const served = await start(stateless(), { sessions: "auto" });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    const answer = (await (await client.open()).json()) as { result: { capabilities: object } };
    expect(answer.result.capabilities).not.toMatchObject({ tools: { listChanged: true } });
  });

  it.each([
    ["a tool is stateful", () => stateless().add(counter)],
    ["a tool asks the client", () => stateless().add(asking)],
    ["resources can be subscribed to", () => stateless().resource("r://a", {}, () => "text")],
    ["there is no tool", () => new Server({ name: "s", version: "1" })],
    ["another server is mounted", () => stateless().mount("inner", stateless())],
  ])("opens a session while %s", async (_what, make) => {
    const served = await start(make(), { sessions: "auto" });
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    expect(client.sessionId).toMatch(/^[\x21-\x7e]{32}$/);
    expect((await client.call("nothing")).status).toBe(200);
    expect((await client.send("DELETE", {})).status).toBe(204);
  });

  it("keeps both kinds of clients when the tools change", async () => {
    const server = stateless();
    const served = await start(server, { sessions: "auto" });
    const without = new LegacyClient(served.url, { fetch: served.fetch });
    await without.open();
    server.add(counter);
    const within = new LegacyClient(served.url, { fetch: served.fetch });
    await within.open();
    server.remove("tool", "count");
    expect([without.sessionId === undefined, within.sessionId === undefined]).toEqual([true, false]);
    for (const client of [without, within]) expect((await client.call("add")).status).toBe(200);
    server.add(counter);
    for (const client of [without, within]) expect((await client.call("count")).status).toBe(200);
  });

  it("is not the default", async () => {
    const served = await start(stateless());
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    await client.open();
    expect(client.sessionId).toBeDefined();
  });
});

describe("a client of a revision with sessions", () => {
  const modesOf = (client: Client) => {
    const modes: string[] = [];
    client.on("session.mode", (mode) => void modes.push(mode));
    return modes;
  };

  it("gets a session once a tool needs one, and keeps it", async () => {
    const server = stateless();
    const handle = await serveHttp(server, { port: 0, sessions: "auto" });
    const client = await connect(handle.url, { revisions: ["2025-11-25"], cache: false });
    const modes = modesOf(client);
    expect(client.sessionMode).toBeUndefined();
    await client.listTools();
    expect(client.sessionMode).toBe("optional");
    expect(server.sessions()).toHaveLength(0);
    server.add(counter);
    expect((await client.listTools()).tools).toHaveLength(2);
    expect(client.sessionMode).toBe("required");
    expect(server.sessions()).toHaveLength(1);
    expect(await client.call("count")).toBe("1");
    server.remove("tool", "count");
    await client.listTools();
    expect(await client.call("add")).toBe("3");
    expect(server.sessions()).toHaveLength(1);
    expect(modes).toEqual(["optional", "required", "optional"]);
    await client.close();
    await handle.close();
  });

  it("opens nothing again on a server that has no sessions at all", async () => {
    const server = stateless().add(counter);
    const handle = await serveHttp(server, { port: 0, sessions: false });
    const client = await connect(handle.url, { revisions: ["2025-11-25"], cache: false });
    const states: string[] = [];
    client.on("state", ({ state }) => void states.push(state));
    await client.listTools();
    expect([client.sessionMode, states]).toEqual(["required", []]);
    await client.close();
    await handle.close();
  });

  it.each(["2025-11-25", "2026-07-28"] as const)("is told the mode page by page in %s", async (revision) => {
    const server = new Server({ name: "s", version: "1" }, { pageSize: 1 })
      .tool("a", { mode: "stateless" }, () => "")
      .tool("b", { mode: "stateless", _meta: { "x.y/z": 1 } }, () => "")
      .tool("c", { mode: "stateful" }, () => "");
    const client = await connect(server, { revisions: [revision] });
    const tools = await client.allTools();
    expect(tools.map(({ _meta }) => _meta)).toEqual([
      { [TOOL_MODE]: "stateless" },
      { "x.y/z": 1, [TOOL_MODE]: "stateless" },
      undefined,
    ]);
    expect(client.sessionMode).toBe("required");
    server.remove("tool", "c");
    await client.allTools();
    expect(client.sessionMode).toBe("optional");
    await client.close();
  });
});

it("a mode is read from our key, from the bare name, and is stateful otherwise", () => {
  const key = "dev.parley/mode";
  expect(TOOL_MODE).toBe(key);
  const metas = [{ [key]: "stateless" }, { mode: "stateless" }, { [key]: "stateful", mode: "stateless" }, { mode: 1 }];
  expect(metas.map((_meta) => toolMode({ _meta }))).toEqual(["stateless", "stateless", "stateful", "stateful"]);
  expect(toolMode({})).toBe("stateful");
});

it("a mode that does not exist is refused", () => {
  const server = new Server({ name: "s", version: "1" });
  expect(() => server.tool("t", { mode: "shared" as never }, () => "")).toThrow('`mode` of tool "t" is "shared"');
});
