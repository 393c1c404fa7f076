import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive, itemsOf, textOf } from "../../../test/server/drive.js";
import { McpError } from "../../protocol/error.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { HandlerContext } from "../contract/context.js";
import { Server } from "../server.js";
import type { ServerHandler } from "./server-handler.js";

const info = { name: "s", version: "1" };
const schema = { type: "object" } as const;

class Everything implements ServerHandler {
  readonly log: string[] = [];
  readonly cursors: string[] = [];
  async init() {
    this.log.push("init");
  }
  async terminate() {
    this.log.push("terminate");
  }
  listTools(cursor: string | undefined) {
    if (cursor === undefined) return { tools: [{ name: "one", inputSchema: schema }], nextCursor: "page two" };
    this.cursors.push(cursor);
    return { tools: [{ name: "two", inputSchema: schema }] };
  }
  async callTool(name: string, args: Record<string, unknown>, ctx: HandlerContext) {
    if (name === "ask") return (await ctx.elicit("ok?", z.object({ ok: z.boolean() }))).ok ? "yes" : "no";
    if (name === "wire")
      return { content: [{ type: "text" as const, text: "raw" }], structuredContent: { a: 1 }, isError: false };
    if (name === "throws") throw new Error("inside");
    if (name === "refuses") throw new McpError("invalid_params", `unknown tool: ${name}`);
    return { name, args, self: this instanceof Everything };
  }
  listResources() {
    return [{ uri: "a://1", name: "one" }];
  }
  listResourceTemplates() {
    return [{ uriTemplate: "a://{id}", name: "any" }];
  }
  readResource(uri: string) {
    return uri === "a://1" ? "text of one" : uri === "a://2" ? { contents: [{ uri, text: "raw" }] } : undefined;
  }
  subscribe(uri: string) {
    this.log.push(`subscribe ${uri}`);
  }
  unsubscribe(uri: string) {
    this.log.push(`unsubscribe ${uri}`);
  }
  listPrompts() {
    return [{ name: "p" }];
  }
  getPrompt(name: string, args: Record<string, string>) {
    return `${name} ${args["x"] ?? ""}`;
  }
  complete() {
    return ["alpha", "beta"];
  }
  setLogLevel(level: LoggingLevel) {
    this.log.push(`level ${level}`);
  }
}

describe("a server made of one object", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)(
    "serves every method in %s, as an object or a class",
    async (revision) => {
      for (const server of [Server.from(Everything, info), Server.from(new Everything(), info)]) {
        const answer = () => ({ action: "accept", content: { ok: true } });
        const drive = new Drive(server, { revision, capabilities: { elicitation: {} }, answer });
        expect(textOf(await drive.call("x", { a: 1 }))).toBe('{"name":"x","args":{"a":1},"self":true}');
        expect(textOf(await drive.call("ask"))).toBe("yes");
        expect((await drive.call("wire")).result).toMatchObject({
          content: [{ text: "raw" }],
          structuredContent: { a: 1 },
        });
        expect((await drive.call("throws")).result?.isError).toBe(true);
        expect((await drive.call("refuses")).error?.code).toBe(-32602);
        expect(itemsOf(await drive.send("resources/list"), "resources")).toEqual([{ uri: "a://1", name: "one" }]);
        expect(itemsOf(await drive.send("resources/templates/list"), "resourceTemplates")).toHaveLength(1);
        expect(itemsOf(await drive.send("resources/read", { uri: "a://1" }), "contents")).toEqual([
          { uri: "a://1", text: "text of one" },
        ]);
        expect(itemsOf(await drive.send("resources/read", { uri: "a://2" }), "contents")).toHaveLength(1);
        expect((await drive.send("resources/read", { uri: "a://3" })).error?.message).toContain("not found");
        expect(itemsOf(await drive.send("prompts/list"), "prompts")).toEqual([{ name: "p" }]);
        expect((await drive.send("prompts/get", { name: "p", arguments: { x: "1" } })).result).toMatchObject({
          messages: [{ role: "user", content: { type: "text", text: "p 1" } }],
        });
        const ref = { type: "ref/prompt", name: "p" };
        const completion = await drive.send("completion/complete", { ref, argument: { name: "x", value: "" } });
        expect(completion.result?.["completion"]).toMatchObject({ values: ["alpha", "beta"], total: 2 });
      }
    },
  );

  it("wraps outputs by the schemas that it listed, where a revision has structured objects only (TOOL-11)", async () => {
    const outputSchema = { anyOf: [{ type: "object" }, { type: "null" }] };
    const server = Server.from(
      {
        listTools: () => [{ name: "t", inputSchema: schema, outputSchema }],
        callTool: () => ({ content: [], structuredContent: { a: 1 } }),
      },
      info,
    );
    const drive = new Drive(server, { revision: "2025-11-25" });
    expect(itemsOf(await drive.send("tools/list"), "tools")).toMatchObject([
      { outputSchema: { required: ["result"] } },
    ]);
    expect((await drive.call("t")).result).toMatchObject({ structuredContent: { result: { a: 1 } } });
  });

  it("hands its own cursors back to it, and nobody else's", async () => {
    const handler = new Everything();
    const drive = new Drive(Server.from(handler, info));
    const first = await drive.send("tools/list");
    const cursor = first.result?.["nextCursor"] as string;
    expect(cursor).not.toBe("page two");
    expect(itemsOf(await drive.send("tools/list", { cursor }), "tools")).toMatchObject([{ name: "two" }]);
    expect(handler.cursors).toEqual(["page two"]);
    for (const bad of ["page two", `${cursor}x`, 5]) {
      expect((await drive.send("tools/list", { cursor: bad })).error?.code).toBe(-32602);
    }
  });

  it("is told of the first and the last subscriber, and of log levels", async () => {
    const handler = new Everything();
    const server = Server.from(handler, info);
    const drive = new Drive(server, { revision: "2025-11-25" });
    server.endpoint().opened(drive.peer);
    await drive.send("resources/subscribe", { uri: "a://1" });
    await drive.send("resources/subscribe", { uri: "a://1" });
    server.resourceUpdated("a://1");
    await drive.send("resources/unsubscribe", { uri: "a://1" });
    await drive.send("logging/setLevel", { level: "error" });
    await new Promise(setImmediate);
    expect(handler.log).toEqual(["init", "subscribe a://1", "unsubscribe a://1", "level error"]);
    expect(drive.said.map(({ method }) => method)).toEqual(["notifications/resources/updated"]);
  });

  it("prepares itself once before the first request, however many come at once, and ends once", async () => {
    const handler = new Everything();
    const server = Server.from(handler, info);
    const drive = new Drive(server);
    await Promise.all([drive.call("x"), drive.call("y"), drive.send("server/discover")]);
    await drive.call("z");
    expect(handler.log).toEqual(["init"]);
    await server.close();
    await server.close();
    expect(handler.log).toEqual(["init", "terminate"]);
    expect((await drive.call("x")).error?.message).toBe("the server is closed");
  });

  it("does not end what never began, and refuses requests while it cannot begin (B08)", async () => {
    const unused = new Everything();
    await Server.from(unused, info).close();
    expect(unused.log).toEqual([]);
    let broken = true;
    const server = Server.from(
      {
        init() {
          if (broken) throw new Error("no database");
        },
        callTool: () => "ok",
      },
      info,
    );
    const drive = new Drive(server, { revision: "2025-11-25" });
    expect((await drive.call("x")).error).toMatchObject({ code: -32603, message: "no database" });
    broken = false;
    expect(textOf(await drive.call("x"))).toBe("ok");
  });

  it("offers exactly what its methods say, for every subset of them", async () => {
    const changes = { listChanged: true };
    const rules: [keyof ServerHandler, string, object][] = [
      ["listTools", "tools", changes],
      ["readResource", "resources", changes],
      ["listPrompts", "prompts", changes],
      ["complete", "completions", {}],
      ["setLogLevel", "logging", {}],
      ["subscribe", "resources.subscribe", {}],
    ];
    for (let subset = 0; subset < 2 ** rules.length; subset++) {
      const chosen = rules.filter((_, bit) => (subset >> bit) % 2 === 1);
      const handler = Object.fromEntries(chosen.map(([method]) => [method, () => []])) as ServerHandler;
      const names = chosen.map(([method]) => method);
      const expected = Object.fromEntries(
        chosen.flatMap(([, name, value]) => (name.includes(".") ? [] : [[name, value]])),
      ) as Record<string, object>;
      if (names.includes("subscribe") && names.includes("readResource")) {
        expected["resources"] = { subscribe: true, listChanged: true };
      }
      const { result } = await new Drive(Server.from(handler, info)).send("server/discover");
      expect(result?.["capabilities"]).toEqual(expected);
    }
  });

  it("may declare more than its methods say, which is noted (B09)", async () => {
    const warnings: string[] = [];
    const platform = { warn: (line: string) => void warnings.push(line) };
    const server = Server.from({ capabilities: { prompts: {}, tools: {} }, callTool: () => "" }, info, { platform });
    const { result } = await new Drive(server).send("server/discover");
    expect(result?.["capabilities"]).toEqual({ prompts: {}, tools: {} });
    expect(warnings).toEqual(['the handler declares "prompts" but has none of listPrompts, getPrompt']);
  });

  it("takes offers beside those of the object, which come first", async () => {
    const server = Server.from(
      { listTools: () => [{ name: "a", inputSchema: { type: "object" } }], callTool: (name) => name },
      info,
    );
    server.tool("x", {}, () => "own").prompt("p", {}, () => "hi");
    const drive = new Drive(server);
    expect((await drive.send("prompts/get", { name: "p" })).error).toBeUndefined();
    expect([textOf(await drive.call("x")), textOf(await drive.call("a"))]).toEqual(["own", "a"]);
    expect(itemsOf(await drive.send("tools/list"), "tools").map(({ name }) => name)).toEqual(["x", "a"]);
  });
});

it("the lists of a mounted object may be very long, and may be left out", async () => {
  const tools = Array.from({ length: 150_000 }, (_, index) => ({ name: `t${index}`, inputSchema: schema }));
  const listed = async (listTools: () => unknown) => {
    const inner = Server.from({ listTools, callTool: () => "" } as ServerHandler, info);
    return itemsOf(await new Drive(new Server(info).mount("in", inner)).send("tools/list"), "tools");
  };
  expect((await listed(() => tools)).length).toBe(tools.length);
  expect(await listed(() => ({}))).toEqual([]);
});

describe("why a capability is on or off", () => {
  it("is told for every capability (B36)", () => {
    const why = (server: Server) =>
      Object.fromEntries(
        server.explainCapabilities().map(({ capability, on, why: reason }) => [capability, [on, reason]]),
      );
    const plain = why(new Server(info, { logging: false }).tool("t", {}, () => ""));
    expect(plain["tools"]).toEqual([true, "tools are registered or declared"]);
    expect(plain["prompts"]).toEqual([false, "no prompt is registered; add one with `server.prompt`"]);
    expect(plain["logging"]).toEqual([false, "the option `logging` is false"]);
    const made = why(Server.from({ listTools: () => [], callTool: () => "", readResource: () => "" }, info));
    expect(made["tools"]).toEqual([true, "the handler has listTools and callTool"]);
    expect(made["resources.subscribe"]).toEqual([false, "the handler has no subscribe"]);
    expect(made["prompts"]).toEqual([false, "the handler has no listPrompts, no getPrompt"]);
    expect(made["logging"]).toEqual([false, "the handler has no setLogLevel"]);
    const extended = new Server(info, { extensions: [{ id: "com.example/x", settings: {} }] });
    expect(why(extended)["extensions.com.example/x"]?.[0]).toBe(true);
  });
});
