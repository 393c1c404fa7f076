import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { Drive, itemsOf, textOf } from "../../../test/server/drive.js";
import { McpError } from "../../protocol/error.js";
import { Server } from "../server.js";
import { consent } from "./consent.js";
import { isInputRequired } from "./input-required.js";
import type { Middleware } from "./middleware.js";

const info = { name: "s", version: "1" };
const build = () =>
  new Server(info)
    .tool("hello", { input: z.object({ who: z.string() }) }, ({ who }) => `hello ${who}`)
    .resource("a://b", {}, () => "text")
    .prompt("p", {}, () => "say hi");

describe("middleware", () => {
  it("wraps every method, the first added outermost", async () => {
    const seen: string[] = [];
    const named =
      (name: string): Middleware =>
      async (call, next) => {
        seen.push(`${name} in ${call.method}`);
        const result = await next();
        seen.push(`${name} out`);
        return result;
      };
    const drive = new Drive(build().use(named("a"), named("b")).use(named("c")));
    await drive.call("hello", { who: "x" });
    expect(seen).toEqual(["a in tools/call", "b in tools/call", "c in tools/call", "c out", "b out", "a out"]);
    seen.length = 0;
    await drive.send("server/discover");
    await drive.send("resources/list");
    expect(seen.filter((line) => line.startsWith("a in"))).toEqual(["a in server/discover", "a in resources/list"]);
  });

  it("is typed by method", () => {
    build().use((call, next) => {
      if (call.method === "tools/call") expectTypeOf(call.params.name).toEqualTypeOf<string>();
      if (call.method === "resources/read") expectTypeOf(call.params.uri).toEqualTypeOf<string>();
      return next();
    });
  });

  it("may answer itself, change the answer, or refuse", async () => {
    const short = new Drive(build().use(() => ({ content: [{ type: "text", text: "cached" }] })));
    expect(textOf(await short.call("hello", { who: "x" }))).toBe("cached");
    const changed = build().use(async (_call, next) => ({ ...(await next()), _meta: { "com.example/seen": true } }));
    expect((await new Drive(changed).call("hello", { who: "x" })).result?.["_meta"]).toMatchObject({
      "com.example/seen": true,
    });
    const refusing = build().use(() => {
      throw new McpError("invalid_request", "not today");
    });
    expect((await new Drive(refusing).call("hello", { who: "x" })).error).toEqual({
      code: -32600,
      message: "not today",
    });
  });

  it("must not go on twice, and what it returns must be an object", async () => {
    const twice = build().use(async (_call, next) => {
      await next();
      return next();
    });
    expect((await new Drive(twice).call("hello", { who: "x" })).error?.message).toContain("twice");
    for (const junk of [5, "text", null, [1], new Date()]) {
      const odd = new Drive(build().use(() => junk as object));
      expect((await odd.call("hello", { who: "x" })).error?.code).toBe(-32603);
    }
  });

  it.each(["2025-11-25", "2026-07-28"] as const)("that forgets its return is named in %s", async (revision) => {
    const forgetful = async (_call: unknown, next: () => Promise<object>) => {
      await next();
    };
    const drive = new Drive(build().use(forgetful as unknown as Middleware), { revision });
    const { error } = await drive.call("hello", { who: "x" });
    expect(error?.message).toBe("middleware returned nothing for tools/call");
  });

  it("is refused when it is no function", () => {
    for (const wrong of [5, undefined, null, {}]) {
      expect(() => build().use(wrong as unknown as Middleware)).toThrow(/middleware must be a function/);
    }
  });

  it("sees a question of the newest era as an opaque result, not as an error", async () => {
    const caught: unknown[] = [];
    const server = new Server(info)
      .tool("ask", {}, async (_args, ctx) => String((await ctx.elicit("ok?", z.object({ ok: z.boolean() }))).ok))
      .use(async (_call, next) => {
        try {
          return await next();
        } catch (error) {
          caught.push(isInputRequired(error));
          throw error;
        }
      });
    const answer = () => ({ action: "accept", content: { ok: true } });
    const drive = new Drive(server, { capabilities: { elicitation: {} }, answer });
    expect(textOf(await drive.call("ask"))).toBe("true");
    expect(caught).toEqual([]);
  });
});

describe("middleware that people write", () => {
  it("times calls", async () => {
    const times: [string, number][] = [];
    const timing: Middleware = async (call, next) => {
      const since = performance.now();
      try {
        return await next();
      } finally {
        times.push([call.method, performance.now() - since]);
      }
    };
    await new Drive(build().use(timing)).call("hello", { who: "x" });
    expect(times).toEqual([["tools/call", expect.any(Number)]]);
  });

  it("lets only the authorized in", async () => {
    const members: Middleware = (call, next) => {
      if (call.method !== "tools/call" || call.ctx.auth !== undefined) return next();
      throw new McpError("auth_required", "sign in first");
    };
    const server = build().use(members);
    expect((await new Drive(server).call("hello", { who: "x" })).error?.message).toBe("sign in first");
    const member = new Drive(server, { principal: { key: "ada" } });
    expect(textOf(await member.call("hello", { who: "x" }))).toBe("hello x");
  });

  it("limits the rate per caller", async () => {
    let now = 0;
    const rateLimit = (most: number, perMs: number): Middleware => {
      const windows = new Map<string, { until: number; calls: number }>();
      return (call, next) => {
        if (call.method !== "tools/call") return next();
        const key = call.ctx.auth?.key ?? "anonymous";
        const window = windows.get(key);
        const current = window !== undefined && window.until > now ? window : { until: now + perMs, calls: 0 };
        windows.set(key, current);
        if (++current.calls <= most) return next();
        throw new McpError("limit_exceeded", `more than ${most} calls`, {
          data: { retryAfterMs: current.until - now },
        });
      };
    };
    const server = build().use(rateLimit(2, 1000));
    const ada = new Drive(server, { principal: { key: "ada" } });
    const outcomes = [];
    for (let call = 0; call < 3; call++) outcomes.push((await ada.call("hello", { who: "x" })).error?.data);
    expect(outcomes).toEqual([undefined, undefined, { retryAfterMs: 1000 }]);
    expect((await new Drive(server, { principal: { key: "bo" } }).call("hello", { who: "x" })).error).toBeUndefined();
    now = 1000;
    expect((await ada.call("hello", { who: "x" })).error).toBeUndefined();
  });

  it("caches results of tools that always give the same", async () => {
    let ran = 0;
    const server = new Server(info).tool("slow", { input: z.object({ n: z.number() }) }, ({ n }) => `${n}:${++ran}`);
    const cache = new Map<string, object>();
    server.use(async (call, next) => {
      if (call.method !== "tools/call") return next();
      const key = JSON.stringify([call.params.name, call.params.arguments]);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const result = await next();
      cache.set(key, result);
      return result;
    });
    const drive = new Drive(server);
    const texts = [];
    for (const n of [1, 1, 2, 1]) texts.push(textOf(await drive.call("slow", { n })));
    expect(texts).toEqual(["1:1", "1:1", "2:2", "1:1"]);
  });

  it("hides tools from a list", async () => {
    const server = build().use(async (call, next) => {
      const result = await next();
      return call.method === "tools/list" ? { ...result, tools: [] } : result;
    });
    expect(itemsOf(await new Drive(server).send("tools/list"), "tools")).toEqual([]);
  });
});

describe("consent", () => {
  it("lets calls through or refuses them before anything runs", async () => {
    const asked: unknown[] = [];
    const server = build().use(
      consent({
        beforeToolCall: ({ name, arguments: args }) => {
          asked.push([name, args]);
          return args["who"] === "friend" ? "allow" : { deny: "strangers are not greeted" };
        },
        beforeResourceRead: async ({ uri }) => ({ deny: `${uri} is private` }),
        beforePrompt: () => "allow",
      }),
    );
    const drive = new Drive(server);
    expect(textOf(await drive.call("hello", { who: "friend" }))).toBe("hello friend");
    const refused = await drive.call("hello", { who: "stranger" });
    expect(refused.result?.isError).toBe(true);
    expect(textOf(refused)).toBe("strangers are not greeted");
    expect(asked).toHaveLength(2);
    expect((await drive.send("resources/read", { uri: "a://b" })).error).toEqual({
      code: -1,
      message: "a://b is private",
    });
    expect((await drive.send("prompts/get", { name: "p" })).error).toBeUndefined();
    expect((await drive.send("tools/list")).error).toBeUndefined();
  });

  it("refuses when a hook decides nothing, and fails when a hook fails", async () => {
    const undecided = new Drive(build().use(consent({ beforeToolCall: () => undefined as never })));
    expect(textOf(await undecided.call("hello", { who: "x" }))).toBe("This call was not allowed.");
    const failing = consent({
      beforeToolCall: () => {
        throw new Error("no policy");
      },
    });
    expect((await new Drive(build().use(failing)).call("hello", { who: "x" })).error?.code).toBe(-32603);
  });
});

describe("the handshake", () => {
  it("can be refused by middleware, and then opens no session (B10)", async () => {
    const server = build().use((call, next) => {
      if (call.method === "initialize" && call.params.capabilities.sampling === undefined) {
        throw new McpError("invalid_request", "clients without a model are not served");
      }
      return next();
    });
    const endpoint = server.endpoint();
    const shake = (capabilities: object) => {
      const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } };
      const accepted = endpoint.accept({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      return endpoint.request(accepted, { id: 1, signal: new AbortController().signal, send: () => {} });
    };
    const refused = await shake({});
    expect(refused.text).toContain("clients without a model are not served");
    expect(refused.session).toBeUndefined();
    expect((await shake({ sampling: {} })).session).toBeDefined();
  });
});
