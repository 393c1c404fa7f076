import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Drive, itemsOf, type Reply, textOf } from "../../../test/server/drive.js";
import { McpError } from "../../protocol/error.js";
import { Server } from "../server.js";
import { link, resource } from "../tools/content.js";

const info = { name: "s", version: "1" };
const ERAS = ["2025-11-25", "2026-07-28"] as const;

function weather() {
  return new Server({ name: "weather", version: "1" })
    .tool(
      "forecast",
      { input: z.object({ city: z.string() }), output: z.object({ tempC: z.number() }) },
      async ({ city }, ctx) => {
        ctx.progress(1);
        return { tempC: city.length };
      },
    )
    .tool("ask", {}, async (_args, ctx) => String((await ctx.elicit("sure?", z.object({ ok: z.boolean() }))).ok))
    .tool("links", {}, () => [link("map://oslo"), link("https://example.com/x"), resource("map://oslo", "x")])
    .tool("admin", { visibleTo: ({ auth }) => auth?.key === "root", scopes: ["a"] }, () => "root")
    .resource("map://oslo", {}, () => "map of Oslo")
    .resourceTemplate("city://{name}", { complete: { name: ["Oslo", "Rome"] } }, ({ name }) => `city ${name}`)
    .prompt("plan", { arguments: { day: { complete: ["mon", "tue"] } } }, () => "plan the day");
}

const outer = () => new Server(info).tool("own", {}, () => "mine").mount("weather", weather());
const names = (reply: Reply, member: string, key = "name") => itemsOf(reply, member).map((item) => item[key]);

describe("a server within a server", () => {
  it.each(ERAS)("offers its tools, prompts and resources under its prefix in %s", async (revision) => {
    const drive = new Drive(outer(), { revision });
    expect(names(await drive.send("tools/list"), "tools")).toEqual([
      "own",
      "weather_forecast",
      "weather_ask",
      "weather_links",
    ]);
    expect(names(await drive.send("prompts/list"), "prompts")).toEqual(["weather_plan"]);
    expect(names(await drive.send("resources/list"), "resources", "uri")).toEqual(["weather+map://oslo"]);
    const templates = await drive.send("resources/templates/list");
    expect(names(templates, "resourceTemplates", "uriTemplate")).toEqual(["weather+city://{name}"]);
    expect(textOf(await drive.call("own"))).toBe("mine");
    const called = await drive.call("weather_forecast", { city: "Oslo" });
    expect(called.result?.["structuredContent"]).toEqual({ tempC: 4 });
    expect((await drive.send("prompts/get", { name: "weather_plan" })).error).toBeUndefined();
    for (const uri of ["weather+map://oslo", "weather+city://rome"]) {
      const read = await drive.send("resources/read", { uri });
      expect(itemsOf(read, "contents")[0]?.["uri"]).toBe(uri);
    }
    for (const ref of [
      { type: "ref/prompt", name: "weather_plan" },
      { type: "ref/resource", uri: "weather+city://{name}" },
    ]) {
      const argument = {
        name: ref.type === "ref/prompt" ? "day" : "name",
        value: ref.type === "ref/prompt" ? "m" : "R",
      };
      const { result } = await drive.send("completion/complete", { ref, argument });
      expect(Object(result?.["completion"]).values[0]).toBe(ref.type === "ref/prompt" ? "mon" : "Rome");
    }
  });

  it.each(ERAS)("asks through the outer server's call in %s", async (revision) => {
    const answer = () => ({ action: "accept", content: { ok: true } });
    const drive = new Drive(outer(), { revision, capabilities: { elicitation: {} }, answer });
    expect(textOf(await drive.call("weather_ask"))).toBe("true");
    expect(drive.asked).toHaveLength(1);
  });

  it("refuses by its own rules: unknown names, bad arguments, hidden tools, scopes", async () => {
    const server = outer();
    const drive = new Drive(server);
    expect((await drive.call("weather_nothing")).error?.code).toBe(-32602);
    expect((await drive.call("other_forecast")).error?.code).toBe(-32602);
    expect((await drive.call("weather_forecast", { town: "x" })).result?.isError).toBe(true);
    expect((await drive.call("weather_admin")).error?.code).toBe(-32602);
    const root = new Drive(server, { principal: { key: "root", scopes: [] } });
    expect((await root.call("weather_admin")).answer.scopes).toEqual(["a"]);
    expect(names(await root.send("tools/list"), "tools")).toContain("weather_admin");
    expect((await drive.send("resources/read", { uri: "weather+map://rome" })).error?.message).toContain("not found");
  });

  it("keeps links usable: those that it serves get the prefix, web addresses stay", async () => {
    const { result } = await new Drive(outer()).call("weather_links");
    expect(result?.content?.map((block) => block.uri ?? Object(block).resource.uri)).toEqual([
      "weather+map://oslo",
      "https://example.com/x",
      "weather+map://oslo",
    ]);
  });

  it("tells outer clients of changes of its lists, at once and once", async () => {
    const inner = new Server(info);
    const server = new Server(info).mount("in", inner);
    const drive = new Drive(server, { revision: "2025-11-25" });
    expect((await drive.send("tools/list")).error?.code).toBe(-32601);
    inner.tool("first", {}, () => "");
    server.endpoint().opened(drive.peer);
    expect(names(await drive.send("tools/list"), "tools")).toEqual(["in_first"]);
    inner.tool("a", {}, () => "").tool("b", {}, () => "");
    expect(names(await drive.send("tools/list"), "tools")).toEqual(["in_first", "in_a", "in_b"]);
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
    expect(drive.said.map(({ method }) => method)).toEqual(["notifications/tools/list_changed"]);
  });

  it("tells outer subscribers of updates, and hears when nobody listens any more", async () => {
    const watched: string[] = [];
    const inner = new Server(info, {
      onSubscribe: (uri) => void watched.push(`+${uri}`),
      onUnsubscribe: (uri) => void watched.push(`-${uri}`),
    }).resource("a://b", {}, () => "x");
    const server = new Server(info).mount("in", inner);
    const drive = new Drive(server, { revision: "2025-11-25" });
    server.endpoint().opened(drive.peer);
    expect((await drive.send("resources/subscribe", { uri: "in+a://b" })).error).toBeUndefined();
    expect((await drive.send("resources/subscribe", { uri: "in+a://zzz" })).error).toBeDefined();
    inner.resourceUpdated("a://b");
    expect(drive.said.map(({ params }) => params)).toEqual([{ uri: "in+a://b" }]);
    await drive.send("resources/unsubscribe", { uri: "in+a://b" });
    await new Promise(setImmediate);
    expect(watched).toEqual(["+a://b", "-a://b"]);
  });

  it("runs both servers' middleware, which share `ctx.data`", async () => {
    const seen: unknown[] = [];
    const inner = new Server(info)
      .tool("who", { output: { type: "object" } }, (_args, ctx) => ({ user: ctx.data["user"] }))
      .use((call, next) => {
        if (call.method === "tools/call") seen.push(call.params.name);
        return next();
      });
    const server = new Server(info).mount("in", inner).use(async (call, next) => {
      call.ctx.data["user"] = "ada";
      const result = (await next()) as { structuredContent?: { user?: string } };
      if (result.structuredContent !== undefined) result.structuredContent.user = "changed outside";
      return result;
    });
    const { result } = await new Drive(server).call("in_who");
    expect(result?.["structuredContent"]).toEqual({ user: "changed outside" });
    expect(seen).toEqual(["who"]);
  });

  it("pages all lists together, and keeps the joined list while no part changes", async () => {
    const build = (count: number) => {
      const server = new Server(info, { pageSize: 2 });
      for (let index = 0; index < count; index++) server.tool(`t${index}`, {}, () => "");
      return server;
    };
    const drive = new Drive(build(3).mount("a", build(3)).mount("b", build(1)));
    const all: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; page < 10; page++) {
      const reply = await drive.send("tools/list", cursor === undefined ? {} : { cursor });
      all.push(...names(reply, "tools"));
      cursor = reply.result?.["nextCursor"];
      if (cursor === undefined) break;
    }
    expect(all).toEqual(["t0", "t1", "t2", "a_t0", "a_t1", "a_t2", "b_t0"]);
  });

  it("narrows how long a joined list may be kept", async () => {
    const inner = new Server(info, { cache: { ttlMs: 10, scope: "private" } }).tool("x", {}, () => "");
    const server = new Server(info, { cache: { ttlMs: 60_000, scope: "public" } })
      .tool("y", {}, () => "")
      .mount("in", inner);
    expect((await new Drive(server).send("tools/list")).result).toMatchObject({ ttlMs: 10, cacheScope: "private" });
  });

  it("may itself hold servers, and handler objects", async () => {
    const deep = new Server(info).tool("t", {}, () => "deep");
    const object = Server.from(
      { listTools: () => [{ name: "o", inputSchema: { type: "object" } }], callTool: () => "obj" },
      info,
    );
    const server = new Server(info).mount("a", new Server(info).mount("b", deep)).mount("o", object);
    const drive = new Drive(server);
    expect(names(await drive.send("tools/list"), "tools")).toEqual(["a_b_t", "o_o"]);
    expect(textOf(await drive.call("a_b_t"))).toBe("deep");
    expect(textOf(await drive.call("o_o"))).toBe("obj");
  });

  it("is refused under a bad or taken prefix, and inside itself", () => {
    const server = new Server(info);
    for (const prefix of ["", "1a", "a_b", "a b", "ü", "x".repeat(40)]) {
      expect(() => server.mount(prefix, new Server(info))).toThrow(McpError);
    }
    server.mount("a", new Server(info));
    expect(() => server.mount("A", new Server(info))).toThrow(/already/);
    expect(() => server.mount("self", server)).toThrow(/would contain itself/);
    const inner = new Server(info).mount("up", server);
    expect(() => server.mount("down", inner)).toThrow(/would contain itself/);
  });

  it("is known to typed clients by its outer names", () => {
    type Tools = ReturnType<typeof outer>["types"]["tools"];
    expectTypeOf<Tools["weather_forecast"]["args"]>().toEqualTypeOf<{ city: string }>();
    expectTypeOf<Tools["own"]["result"]>().toEqualTypeOf<string>();
  });

  it("loses no large result that it keeps for reading", async () => {
    const inner = new Server(info).tool("big", { maxResultBytes: 2000, overflow: "link" }, () => "x".repeat(10_000));
    const drive = new Drive(new Server(info).mount("in", inner));
    const { result } = await drive.call("in_big");
    const uri = result?.content?.find(({ type }) => type === "resource_link")?.uri;
    expect(uri).toMatch(/^in\+parley-result:/);
    expect(Object(itemsOf(await drive.send("resources/read", { uri }), "contents")[0]).text).toHaveLength(10_000);
  });
});
