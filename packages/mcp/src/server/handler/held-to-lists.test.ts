import { describe, expect, it } from "vitest";
import { Drive, textOf } from "../../../test/server/drive.js";
import { httpFacts } from "../../../test/server/http-facts.js";
import { McpError } from "../../protocol/error.js";
import type { RequestContext } from "../contract/context.js";
import { Server } from "../server.js";
import type { ServerHandler } from "./server-handler.js";

const info = { name: "s", version: "1" };
const inputSchema = { type: "object" } as const;
const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;

describe("results of a handler object", () => {
  const returning = (value: unknown, revision: "2025-11-25" | "2026-07-28") =>
    new Drive(
      Server.from(
        { listTools: () => [{ name: "t", inputSchema, outputSchema }], callTool: () => value as { n: number } },
        info,
      ),
      { revision },
    );

  it.each(["2025-11-25", "2026-07-28"] as const)(
    "are checked against the output schema that it lists, also if nobody listed it (TOOL-11), in %s",
    async (revision) => {
      const good = await returning({ content: [], structuredContent: { n: 1 } }, revision).call("t");
      expect(good.result).toMatchObject({ structuredContent: { n: 1 } });
      expect((await returning({ n: 2 }, revision).call("t")).result).toMatchObject({ structuredContent: { n: 2 } });
      for (const bad of [{ content: [], structuredContent: { n: "1" } }, { content: [] }, { m: 1 }]) {
        const { result, error } = await returning(bad, revision).call("t");
        expect(`${error?.message} ${JSON.stringify(result)}`).toMatch(/output schema|which JSON cannot represent/);
      }
      const failed = await returning({ content: [{ type: "text", text: "no" }], isError: true }, revision).call("t");
      expect(failed.result).toMatchObject({ isError: true, content: [{ text: "no" }] });
    },
  );

  it("are held to the list that the caller sees, not to another's", async () => {
    const handler: ServerHandler = {
      listTools: (_cursor: string | undefined, ctx: RequestContext) => [
        { name: "t", inputSchema, ...(ctx.auth?.key === "strict" ? { outputSchema } : {}) },
      ],
      callTool: () => ({ content: [{ type: "text", text: "loose" }], structuredContent: { m: 1 } }),
    };
    const server = Server.from(handler, info);
    const strict = new Drive(server, { principal: { key: "strict" } });
    const loose = new Drive(server, { principal: { key: "loose" } });
    expect(JSON.stringify(await strict.call("t"))).toContain("output schema");
    expect((await loose.call("t")).result).toMatchObject({ structuredContent: { m: 1 } });
  });

  it("are served although the list fails", async () => {
    const listTools = () => {
      throw new Error("no list");
    };
    expect(textOf(await new Drive(Server.from({ listTools, callTool: () => "ok" }, info)).call("t"))).toBe("ok");
  });
});

describe("headers that repeat arguments of a handler object", () => {
  const server = Server.from(
    {
      listTools: () => [
        {
          name: "t",
          inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
        },
      ],
      callTool: (_name, args) => String(args["region"]),
    },
    info,
  );

  it("are checked (HTTP26-40)", async () => {
    const call = (region: string) =>
      new Drive(server, {
        http: httpFacts({
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "t",
          "mcp-param-region": region,
        }),
      }).call("t", { region: "eu" });
    expect(textOf(await call("eu"))).toBe("eu");
    const { error, answer } = await call("us");
    expect(error).toMatchObject({ code: -32020 });
    expect(answer.status).toBe(400);
  });
});

describe("what a handler object offers", () => {
  it("has the cache hint of its own list (CACHE-01)", async () => {
    const server = Server.from({ listTools: () => [], listPrompts: () => [], readResource: () => "x" }, info, {
      cache: { read: { ttlMs: 60_000, scope: "public" }, tools: { ttlMs: 5 } },
    });
    const drive = new Drive(server);
    expect((await drive.send("tools/list")).result).toMatchObject({ ttlMs: 5, cacheScope: "private" });
    expect((await drive.send("prompts/list")).result).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    expect((await drive.send("resources/read", { uri: "a://1" })).result).toMatchObject({ ttlMs: 60_000 });
  });

  it("completes with at most 100 values, however they are returned (COMP-04)", async () => {
    const values = Array.from({ length: 250 }, (_, n) => `v${n}`);
    const server = Server.from({ complete: () => ({ completion: { values }, _meta: { a: 1 } }) }, info);
    const ref = { type: "ref/prompt", name: "p" };
    const { result } = await new Drive(server).send("completion/complete", { ref, argument: { name: "x", value: "" } });
    expect(result).toMatchObject({ completion: { hasMore: true, total: 250 }, _meta: { a: 1 } });
    expect(result?.["completion"]).toMatchObject({ values: values.slice(0, 100) });
  });

  it("has no subscriptions if the option says so", async () => {
    const handler = { readResource: () => "x", subscribe: () => undefined };
    const capabilities = async (subscribe?: boolean) => {
      const server = Server.from(handler, info, subscribe === undefined ? {} : { subscribe });
      return (await new Drive(server).send("server/discover")).result?.["capabilities"];
    };
    expect(await capabilities()).toEqual({ resources: { subscribe: true, listChanged: true } });
    expect(await capabilities(false)).toEqual({ resources: { listChanged: true } });
  });
});

describe("a subscription that the handler object refuses", () => {
  function refusing() {
    const log: string[] = [];
    const handler: ServerHandler = {
      readResource: () => "x",
      async subscribe(uri) {
        log.push(`subscribe ${uri}`);
        if (uri === "a://no") throw new McpError("invalid_params", "not this one", { data: { why: 1 } });
      },
      unsubscribe(uri) {
        log.push(`unsubscribe ${uri}`);
        if (uri === "a://stuck") throw new Error("cannot stop");
      },
    };
    return { log, server: Server.from(handler, info) };
  }

  it("is refused with its error, and can be tried again (A45)", async () => {
    const { log, server } = refusing();
    const drive = new Drive(server, { revision: "2025-11-25" });
    server.endpoint().opened(drive.peer);
    for (let time = 0; time < 2; time++) {
      const { error } = await drive.send("resources/subscribe", { uri: "a://no" });
      expect(error).toEqual({ code: -32602, message: "not this one", data: { why: 1 } });
    }
    expect(drive.peer.session?.subscriptions).toEqual([]);
    expect((await drive.send("resources/subscribe", { uri: "a://yes" })).error).toBeUndefined();
    server.resourceUpdated("a://no");
    server.resourceUpdated("a://yes");
    expect(drive.said.map(({ params }) => params)).toEqual([{ uri: "a://yes" }]);
    expect(log).toEqual(["subscribe a://no", "subscribe a://no", "subscribe a://yes"]);
  });

  it("tells of an `unsubscribe` that failed; the subscription is over all the same", async () => {
    const { server } = refusing();
    const drive = new Drive(server, { revision: "2025-11-25" });
    server.endpoint().opened(drive.peer);
    await drive.send("resources/subscribe", { uri: "a://stuck" });
    expect((await drive.send("resources/unsubscribe", { uri: "a://stuck" })).error?.message).toContain("cannot stop");
    expect(drive.peer.session?.subscriptions).toEqual([]);
  });
});
