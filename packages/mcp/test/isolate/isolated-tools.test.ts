import { connect, McpError, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { buildIsolation, type Isolation } from "./build-isolation.js";

let isolation: Isolation;
const kinds = ["worker", "process"] as const;
const ERAS = ["2025-11-25", "2026-07-28"] as const;

beforeAll(async () => {
  isolation = await buildIsolation("tools");
});
afterAll(() => isolation[Symbol.dispose]());

const newServer = () => new Server({ name: "s", version: "1" }, { maskErrors: false, onError: () => {} });

describe.each(kinds)("in a %s", (kind) => {
  const tool = (name: string, options: object = {}) =>
    isolation.isolated(isolation.url("tools"), { kind, size: 2, export: name, ...options });
  const called = async (name: string, options: object = {}) => {
    const server = newServer().tool("it", {}, tool(name, options));
    const client = await connect(server);
    try {
      return await client.callTool("it", {}).catch((error: unknown) => error);
    } finally {
      await client.close();
      await server.close();
    }
  };
  const textOf = (outcome: unknown) =>
    (outcome as { content: { text: string }[]; isError?: boolean }).content.map(({ text }) => text).join();

  it("gives arguments to the function, and its result to the caller", async () => {
    const input = z.object({ a: z.number(), b: z.number() });
    const output = z.object({ sum: z.number() });
    const add = isolation.isolated<typeof import("./fixtures/tools.js")>(isolation.url("tools"), { kind });
    const server = newServer().tool("add", { input, output }, add);
    const client = await connect(server);
    expect(await client.call("add", { a: 1, b: 2 })).toEqual({ sum: 3 });
    await client.close();
    await server.close();
  });

  it("keeps blocks, full results and errors as they are", async () => {
    expect(await called("blocks")).toMatchObject({ content: [{ type: "text", text: "one" }, { type: "image" }] });
    expect(await called("result")).toMatchObject({ structuredContent: { n: 1 }, _meta: { "x.y/z": 1 } });
    expect(await called("failsForTheModel")).toMatchObject({ isError: true, content: [{}, { text: "or none" }] });
    expect(await called("failsForThePeer")).toMatchObject({ kind: "invalid_params", data: { city: "x" } });
    expect(await called("fails")).toMatchObject({ isError: true, content: [{ text: "a plain failure" }] });
    expect(String(await called("notPortable"))).toContain("cannot be sent to the serving thread");
    expect(String(await called("map"))).toContain("which JSON cannot represent");
  });

  it("names what it cannot load, without the path", async () => {
    for (const name of ["missing", "notAFunction"]) {
      const outcome = await called(name);
      expect(outcome).toMatchObject({ isError: true });
      expect(textOf(outcome)).toBe('The tool "it" cannot be loaded.');
    }
  });

  it.each([
    ["loop", { timeoutMs: 200, graceMs: 50 }, 'The tool "it" did not finish within its limit of 200 ms'],
    ["exit", {}, 'The tool "it" ended its process with exit code 3.'],
    ["rejects", {}, 'The tool "it" '],
    ["throwsLater", {}, 'The tool "it" '],
    ["memory", { memoryMb: 32 }, "memory than its limit of 32 MB (memoryMb)"],
  ])("reports %s as a tool error, and serves the next call", async (name, options, text) => {
    const fine = tool("add", { export: "default" });
    const server = newServer()
      .tool("it", {}, tool(name, options))
      .tool("fine", { input: z.object({ a: z.number(), b: z.number() }) }, fine);
    const client = await connect(server);
    const [failed, other] = await Promise.all([client.callTool("it", {}), client.callTool("fine", { a: 1, b: 1 })]);
    expect(failed).toMatchObject({ isError: true });
    expect(textOf(failed)).toContain(text);
    expect(textOf(failed)).not.toContain("tools.js");
    expect(other).toMatchObject({ content: [{ text: '{"sum":2}' }] });
    expect(textOf(await client.callTool("it", {}))).toContain(text);
    await client.close();
    await server.close();
  });

  it("runs a call again whose worker ended before the function began", async () => {
    const crashing = isolation.isolatedPool({ kind, size: 1 });
    const url = isolation.url("tools");
    const server = newServer()
      .tool("crash", {}, crashing.tool(url, { export: "leavesACrash" }))
      .tool("where", {}, crashing.tool(url, { export: "where" }));
    const client = await connect(server);
    const outcomes = await Promise.all(
      (["crash", "where", "crash", "where"] as const).map((name) => client.callTool(name, {})),
    );
    expect(outcomes.filter(({ isError }) => isError === true)).toEqual([]);
    await client.close();
    await server.close();
  });

  it("tells the tool that its call is cancelled", async () => {
    const server = newServer().tool("it", {}, tool("waits", { size: 1 }));
    const client = await connect(server);
    const abort = new AbortController();
    const both = ["waiting", "queued"].map(() =>
      expect(client.callTool("it", {}, { signal: abort.signal })).rejects.toMatchObject({ kind: "cancelled" }),
    );
    setTimeout(() => abort.abort(), 300);
    await Promise.all(both);
    await client.close();
    await server.close();
  });

  it("passes progress on, and the newest of a flood", async () => {
    const server = newServer().tool("few", {}, tool("progresses")).tool("many", {}, tool("floods"));
    const client = await connect(server);
    const seen: unknown[] = [];
    await client.callTool("few", {}, { onProgress: ({ progress, message }) => seen.push([progress, message]) });
    expect(seen).toEqual([1, 2, 3].map((part) => [part, `part ${part}`]));
    const many: number[] = [];
    await client.callTool("many", {}, { onProgress: ({ progress }) => many.push(progress) });
    expect(many.at(-1)).toBe(100_000);
    expect(many.length).toBeLessThan(1000);
    await client.close();
    await server.close();
  });

  it.each(ERAS)("asks the client in %s", async (revision) => {
    const server = newServer().tool("it", {}, tool("asks"));
    const asked: string[] = [];
    const client = await connect(server, {
      revisions: [revision],
      onElicit: ({ message }) => {
        asked.push(message);
        if (message === "More?") return { action: "decline" };
        return { action: "accept", content: message === "Your name?" ? { name: "ada" } : { age: 36 } };
      },
    });
    const { content } = await client.callTool("it", {});
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual({
      name: "ADA",
      age: 36,
      again: { action: "decline" },
      made: "number",
      can: true,
    });
    expect(asked.sort()).toEqual(["More?", "Your age?", "Your name?"]);
    await client.close();
    await server.close();
  });

  it("gives the context its facts", async () => {
    const server = newServer()
      .use(({ ctx }, next) => {
        Object.assign(ctx.data, { tenant: "t", ignored: () => 1 });
        return next();
      })
      .tool("it", {}, tool("sees"));
    const client = await connect(server);
    const { content } = await client.callTool("it", {}, { meta: { "x.y/z": 1 } });
    expect(JSON.parse((content[0] as { text: string }).text)).toMatchObject({
      data: { tenant: "t" },
      meta: { "x.y/z": 1 },
      method: "tools/call",
      http: null,
      hasCallId: true,
      auth: null,
    });
    await client.close();
    await server.close();
  });

  it("hands over who calls, without the functions of a principal", async () => {
    const server = newServer().tool("it", {}, tool("sees"));
    const principal = { key: "k", subject: "ada", onRevoked: () => () => {} };
    await using handle = await serveHttp(server, { port: 0, authenticate: () => principal });
    const client = await connect(handle.url);
    const { content } = await client.callTool("it", {});
    const { auth } = JSON.parse((content[0] as { text: string }).text);
    expect(auth).toEqual({ key: "k", subject: "ada" });
    await client.close();
    await server.close();
  });

  it("runs 50 calls at once in few workers, and refuses more than may wait", async () => {
    const pool = isolation.isolatedPool({ kind, size: 3, queue: 47 });
    const server = newServer().tool("where", {}, pool.tool(isolation.url("tools"), { export: "where" }));
    const client = await connect(server);
    const outcomes = await Promise.all(
      Array.from({ length: 55 }, () => client.callTool("where", {}).catch((error: unknown) => error)),
    );
    const refused = outcomes.filter((outcome) => McpError.is(outcome));
    expect(refused.length).toBe(5);
    expect(refused[0]).toMatchObject({ data: { limit: "queue", running: 3, queued: 47 } });
    expect(outcomes.filter((outcome) => !McpError.is(outcome))).toHaveLength(50);
    await client.close();
    await server.close();
  });
});
