import { connect, Server } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { gate } from "../http/watched.js";
import { type Arrived, json, result, scriptedServer } from "../http-client/scripted-server.js";
import { greetsIn, type Heard, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });

async function serving(
  answers: Record<string, (message: Heard) => unknown>,
  options: Parameters<typeof connect>[1] = {},
) {
  const warnings: string[] = [];
  const server = scriptedPipe((message, pipe) => {
    if (greetsIn("stateful", message, pipe)) return;
    const answer = answers[message.method ?? ""];
    if (answer === undefined) pipe.refuse(message, -32601);
    else pipe.answer(message, answer(message));
  });
  const client = await connect(server, { onWarning: (message) => warnings.push(message), ...options });
  open.push(client);
  return { client, server, warnings };
}

describe("lists", () => {
  it("one malformed tool of 50 leaves 49 and a warning; strict fails", async () => {
    const tools = Array.from({ length: 50 }, (_, index) => (index === 7 ? { name: 7 } : tool(`t${index}`)));
    const tolerant = await serving({ "tools/list": () => ({ tools }) });
    expect((await tolerant.client.listTools()).tools).toHaveLength(49);
    expect(tolerant.warnings).toEqual([expect.stringContaining("tools[7]")]);
    const strict = await serving({ "tools/list": () => ({ tools }) }, { strict: true });
    await expect(strict.client.listTools()).rejects.toMatchObject({
      kind: "invalid_response",
      fix: expect.stringContaining("strict"),
    });
  });

  it("PAGE-03: 1,000 tools by 7 arrive once each, also where an empty cursor is one of them", async () => {
    const page = (message: Heard) => {
      const cursor = message.params?.["cursor"] as string | undefined;
      const at = cursor === undefined ? 0 : cursor === "" ? 7 : Number(cursor);
      const tools = Array.from({ length: Math.min(7, 1000 - at) }, (_, index) => tool(`t${at + index}`));
      return { tools, ...(at + 7 < 1000 ? { nextCursor: at === 0 ? "" : String(at + 7) } : {}) };
    };
    const { client } = await serving({ "tools/list": page });
    const names = (await client.allTools()).map(({ name }) => name);
    expect(new Set(names).size).toBe(1000);
  });

  it("leaving the loop after the first item costs one request", async () => {
    const { client, server } = await serving({
      "tools/list": () => ({ tools: [tool("a"), tool("b")], nextCursor: "x" }),
    });
    for await (const { name } of client.tools()) {
      expect(name).toBe("a");
      break;
    }
    expect(server.methods().filter((method) => method === "tools/list")).toHaveLength(1);
  });

  it("PAGE-05: a cursor that comes back ends the walk with an error", async () => {
    const { client } = await serving({ "tools/list": () => ({ tools: [], nextCursor: "again" }) });
    await expect(client.allTools()).rejects.toMatchObject({ kind: "limit_exceeded" });
  });

  it("A list without end is cut off after 1,000 pages", async () => {
    let next = 0;
    const { client, server } = await serving({ "tools/list": () => ({ tools: [], nextCursor: String(next++) }) });
    await expect(client.allTools()).rejects.toMatchObject({
      kind: "limit_exceeded",
      message: expect.stringContaining("1000"),
    });
    expect(server.methods().filter((method) => method === "tools/list")).toHaveLength(1000);
  });

  it("a server without the capability is not asked", async () => {
    const server = scriptedPipe((message, pipe) => void greetsIn("stateful", message, pipe, {}));
    const client = await connect(server);
    open.push(client);
    const before = server.heard().length;
    await expect(client.listTools()).rejects.toMatchObject({
      kind: "capability_missing",
      data: { capability: "tools" },
      fix: expect.stringContaining("serverCapabilities"),
    });
    for (const call of [() => client.listResources(), () => client.getPrompt("x"), () => client.setLogLevel("info")])
      await expect(call()).rejects.toMatchObject({ kind: "capability_missing" });
    expect(server.heard()).toHaveLength(before);
  });
});

describe("results of tools", () => {
  const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const giving = (given: object, options = {}) =>
    serving({ "tools/list": () => ({ tools: [tool("t", { outputSchema })] }), "tools/call": () => given }, options);

  it("TOOL-13: structured content that does not fit the listed schema is an invalid response that carries the result", async () => {
    const { client } = await giving({ content: [], structuredContent: { n: "one" } });
    await client.listTools();
    await expect(client.callTool("t")).rejects.toMatchObject({
      kind: "invalid_response",
      message: expect.stringContaining("/n"),
      data: { result: { structuredContent: { n: "one" } } },
    });
  });

  it("TOOL-13: a missing structured content is one too; a failed tool is not", async () => {
    const missing = await giving({ content: [] });
    await missing.client.listTools();
    await expect(missing.client.callTool("t")).rejects.toMatchObject({ kind: "invalid_response" });
    const failed = await giving({ content: [{ type: "text", text: "broken" }], isError: true });
    await failed.client.listTools();
    expect(await failed.client.callTool("t")).toMatchObject({ isError: true });
    await expect(failed.client.call("t")).rejects.toMatchObject({ kind: "tool_error", message: "broken" });
  });

  it("a tool that was never listed, and checkOutput: false, are not checked", async () => {
    const { client } = await giving({ content: [], structuredContent: 1 });
    expect(await client.call("t")).toBe(1);
    const unchecked = await giving({ content: [], structuredContent: 1 }, { checkOutput: false });
    await unchecked.client.listTools();
    expect(await unchecked.client.call("t")).toBe(1);
  });

  const hostile: Record<string, [schema: object, value: unknown]> = {
    "a pattern that explodes": [{ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
    "2^20 references": [fanOut(20), 1],
    "nested anyOf and allOf": [nested(7), {}],
  };
  for (const [name, [schema, value]] of Object.entries(hostile)) {
    it(`${name} ends in an error instead of blocking`, async () => {
      const { client } = await serving({
        "tools/list": () => ({ tools: [tool("t", { outputSchema: schema })] }),
        "tools/call": () => ({ content: [], structuredContent: value }),
      });
      await client.listTools();
      const outcome = await client.callTool("t").catch((error: Error) => error);
      expect(outcome).toMatchObject({ name: "McpError", fix: expect.stringContaining("checkOutput") });
    });
  }

  it("BASE-37, BASE-41: a schema of an unknown dialect or with a reference to the network is an error, not a silent pass", async () => {
    for (const schema of [{ $schema: "urn:unknown" }, { $ref: "http://127.0.0.1:1/x" }]) {
      const { client } = await serving({
        "tools/list": () => ({ tools: [tool("t", { outputSchema: schema })] }),
        "tools/call": () => ({ content: [], structuredContent: {} }),
      });
      await client.listTools();
      await expect(client.callTool("t")).rejects.toMatchObject({ kind: "invalid_schema" });
    }
  });

  it("a broken block is left out with a warning; a result without anything is refused", async () => {
    const { client, warnings } = await serving({
      "tools/call": () => ({ content: [{ type: "text" }, { type: "text", text: "ok" }] }),
    });
    expect(await client.call("t")).toBe("ok");
    expect(warnings).toHaveLength(1);
    const empty = await serving({ "tools/call": () => ({}) });
    await expect(empty.client.callTool("t")).rejects.toMatchObject({ kind: "invalid_response" });
  });
});

describe("many at once", () => {
  it("callMany keeps the order, holds the limit and tells each outcome", async () => {
    let running = 0;
    let most = 0;
    const fourRun = gate();
    const server = new Server({ name: "s", version: "1" }).tool(
      "work",
      { input: { type: "object", properties: { n: { type: "number" } } } },
      async (args: unknown) => {
        const { n } = args as { n: number };
        running++;
        most = Math.max(most, running);
        // Nobody goes on before as many run as may.
        if (running === 4) fourRun.open();
        await fourRun.passed;
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (n === 3) throw new Error("three");
        return String(n);
      },
    );
    const client = await connect(server);
    open.push(client);
    const calls = Array.from({ length: 20 }, (_, n) => ({ name: "work" as const, args: { n } }));
    const outcomes = await client.callMany(calls, { concurrency: 4 });
    expect(most).toBe(4);
    expect(outcomes.map((outcome) => outcome.status === "fulfilled" && outcome.value.content[0])).toEqual(
      calls.map(({ args }) => ({ type: "text", text: args.n === 3 ? "three" : String(args.n) })),
    );
    expect(await client.callMany([])).toEqual([]);
  });

  it("readMany tells the failed ones in their places", async () => {
    const { client } = await serving({
      "resources/read": ({ params }) =>
        params?.["uri"] === "b" ? { nothing: true } : { contents: [{ uri: params?.["uri"], text: "x" }] },
    });
    const outcomes = await client.readMany(["a", "b", "c"]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});

describe("arguments that headers repeat (HTTP26-31, HTTP26-43)", () => {
  const annotated = tool("route", {
    inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
  });
  const wrong = tool("odd", {
    inputSchema: {
      type: "object",
      properties: { list: { type: "array", items: { type: "string", "x-mcp-header": "X" } } },
    },
  });

  async function mirroring() {
    const calls: Arrived[] = [];
    const server = await scriptedServer((request, response) => {
      const method = request.message?.method;
      if (method === "server/discover")
        return json(response, result(request, { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }));
      if (method === "tools/list")
        return json(response, result(request, { tools: [annotated, wrong, tool("plain")], ttlMs: 60_000 }));
      calls.push(request);
      if (request.headers["mcp-param-region"] === undefined) {
        const error = { code: -32020, message: "the header Mcp-Param-Region is missing" };
        return json(response, { jsonrpc: "2.0", id: request.message?.id, error }, 400);
      }
      json(response, result(request, { content: [] }));
    });
    open.push(server);
    const warnings: string[] = [];
    const client = await connect(server.url, { onWarning: (message) => warnings.push(message) });
    open.push(client);
    return { client, calls, warnings, server };
  }

  it("a tool that was listed is called with its headers at once; one with impossible headers is left out", async () => {
    const { client, calls, warnings } = await mirroring();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["route", "plain"]);
    expect(warnings).toEqual([expect.stringContaining('"odd"')]);
    await client.callTool("route", { region: "Zürich" });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.headers["mcp-param-region"]).toMatch(/^=\?base64\?/i);
    expect(calls[0]?.headers["mcp-name"]).toBe("route");
  });

  it("a tool that was not listed is listed after -32020, and called once more", async () => {
    const { client, calls, server } = await mirroring();
    await client.callTool("route", { region: "eu" });
    expect(calls).toHaveLength(2);
    expect(server.requests.filter(({ message }) => message?.method === "tools/list")).toHaveLength(1);
  });

  it("-32020 that stays is an error after one more try", async () => {
    const { client, calls } = await mirroring();
    await expect(client.callTool("plain")).rejects.toMatchObject({ kind: "header_mismatch", fix: expect.any(String) });
    expect(calls).toHaveLength(2);
  });
});

function fanOut(levels: number): object {
  const $defs: Record<string, object> = { [`l${levels}`]: { type: "string" } };
  for (let level = levels - 1; level >= 0; level--) {
    const next = { $ref: `#/$defs/l${level + 1}` };
    $defs[`l${level}`] = { anyOf: [next, next] };
  }
  return { $ref: "#/$defs/l0", $defs };
}

function nested(depth: number): object {
  if (depth === 0) return { required: ["never"] };
  const inner = nested(depth - 1);
  return { anyOf: [{ allOf: [inner, inner] }, { allOf: [inner, inner] }] };
}
