import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, connect, Server } from "@parley/mcp";
import { Host, type HostEntry } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";
import { writtenServer } from "../servers/written-server.js";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function gateway(entry: HostEntry) {
  const host = new Host({ servers: { s: entry }, client: { revisions: [NEWEST_STATEFUL] }, startWaitMs: 60_000 });
  closers.push(() => host.close());
  const front = host.asServer();
  await host.start();
  return async (options: Parameters<typeof connect>[1]) => {
    const client = await connect(front, options);
    closers.push(() => client.close());
    return client as Client;
  };
}

/** A server that lists, and has, one of its tools only for clients that can be sampled. */
async function choosy(): Promise<HostEntry> {
  const server = new Server({ name: "choosy", version: "1" })
    .tool("always", {}, (_args, ctx) => (ctx.client.can("sampling") ? "can be sampled" : "cannot be sampled"))
    .tool("sample", {}, async (_args, ctx) => {
      const { content } = await ctx.sample({
        messages: [{ role: "user", content: { type: "text", text: "hi" } }],
        maxTokens: 5,
      });
      return JSON.stringify(content);
    });
  server.use(async (call, next) => {
    const result = (await next()) as { tools?: { name: string }[] };
    if (call.method !== "tools/list" || call.ctx.client.can("sampling")) return result;
    return { ...result, tools: result.tools?.filter(({ name }) => name !== "sample") };
  });
  const { url, close } = await serveHttp(server as Server, { port: 0 });
  closers.push(() => close());
  return { url: url as string };
}

const onSample = () => ({
  role: "assistant" as const,
  content: { type: "text" as const, text: "sampled" },
  model: "m",
});

describe.each([NEWEST_STATEFUL, NEWEST_STATELESS])(
  "a client of %s at a shared server over HTTP with sessions",
  (revision) => {
    it("sees and calls tools that need sampling, and is told apart from clients without", async () => {
      const open = await gateway(await choosy());
      const [able, plain] = [await open({ revisions: [revision], onSample }), await open({ revisions: [revision] })];
      expect((await able.allTools()).map(({ name }) => name).sort()).toEqual(["s__always", "s__sample"]);
      const text = async (client: Client, tool: string) =>
        JSON.stringify((await client.callTool(tool as never)).content);
      expect(await text(able, "s__sample")).toContain("sampled");
      expect(await text(able, "s__always")).toContain("can be sampled");
      expect(await text(plain, "s__always")).toContain("cannot be sampled");
    });
  },
);

it("a change that a server over HTTP announces to the session of the call alone is listed", async () => {
  const names = ["grow"];
  const open = await gateway(await growing(names));
  const client = await open({ revisions: [NEWEST_STATEFUL] });
  expect((await client.allTools()).map(({ name }) => name)).toEqual(["s__grow"]);
  await client.callTool("s__grow" as never);
  const listed = async () => (await client.allTools({ cache: false })).map(({ name }) => name);
  await expect.poll(listed).toEqual(["s__grow", "s__grown"]);
});

/** A server whose tools are the same for all sessions, and which announces changes on the stream of the call that made them. */
async function growing(names: string[]): Promise<HostEntry> {
  let sessions = 0;
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: Record<string, unknown> };
    if (id === undefined) return response.writeHead(202).end();
    const [line, result] = (() => {
      if (method === "initialize") {
        const capabilities = { tools: { listChanged: true } };
        const serverInfo = { name: "growing", version: "1" };
        return ["", { protocolVersion: params["protocolVersion"], capabilities, serverInfo }];
      }
      if (method === "tools/list") {
        return ["", { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) }];
      }
      if (method !== "tools/call") return ["", {}];
      names.push("grown");
      const changed = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      return [`data: ${changed}\n\n`, { content: [] }];
    })();
    const session = method === "initialize" ? { "mcp-session-id": `session-${++sessions}` } : {};
    response.writeHead(200, { "content-type": "text/event-stream", ...session });
    return response.end(`${line}data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

/** A program that asks for roots after the handshake, outside of any call, and has a tool that gives the answer. */
const ASKS_ROOTS = `
let answer = "not asked";
const handle = (id, method) => {
  if (method === "tools/list") {
    if (answer === "not asked") {
      answer = "asked";
      send({ id: "r1", method: "roots/list" });
    }
    return reply(id, { tools: [tool("roots")] });
  }
  if (method === "tools/call") return reply(id, text(answer));
  return true;
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, result, error } = JSON.parse(line);
  if (id === "r1" && (result || error)) answer = JSON.stringify(result ?? error);
});`;
const roots = [{ uri: "file:///mine", name: "mine" }];

describe("a question outside of a call", () => {
  it.each([
    ["in this process", false],
    ["over HTTP", true],
  ] as const)("reaches the one client of a connection, %s", async (_how, http) => {
    const host = new Host({
      servers: { s: { ...writtenServer(ASKS_ROOTS), isolation: "client" } },
      client: { revisions: [NEWEST_STATEFUL] },
      startWaitMs: 60_000,
    });
    closers.push(() => host.close());
    const front = host.asServer();
    await host.start();
    const handle = http ? await serveHttp(front, { port: 0 }) : undefined;
    if (handle !== undefined) closers.push(() => handle.close());
    const client = (await connect(handle?.url ?? front, { revisions: [NEWEST_STATEFUL], roots })) as Client;
    closers.push(() => client.close());
    await client.allTools();
    const answer = async () => JSON.stringify((await client.callTool("s__roots" as never)).content);
    await expect.poll(answer, { timeout: 30_000 }).toContain("file:///mine");
  });

  it("reaches no client of a shared connection", async () => {
    const open = await gateway(writtenServer(ASKS_ROOTS));
    const client = await open({ revisions: [NEWEST_STATEFUL], roots });
    const answer = async () => JSON.stringify((await client.callTool("s__roots" as never)).content);
    await expect.poll(answer, { timeout: 30_000 }).toContain("roots");
    expect(await answer()).not.toContain("file:///mine");
  });
});

describe("links in results behind a gateway", () => {
  it("stay unchanged if they lead to the web, unless the server lists the address", async () => {
    const links = [
      "https://example.com/a",
      "http://example.com/b",
      "https://listed.example/x",
      "https://t.example/1",
      "note://one",
    ];
    const block = (uri: string) => ({ type: "resource_link" as const, uri, name: uri });
    const server = new Server({ name: "links", version: "1" })
      .tool("links", {}, () => ({ content: links.map(block) }))
      .resource("https://listed.example/x", {}, () => "x")
      .resourceTemplate("https://t.example/{id}", {}, () => "t")
      .resource("note://one", {}, () => "one");
    const open = await gateway(server as Server);
    const client = await open({});
    const { content } = await client.callTool("s__links" as never);
    const uris = (content as unknown as { uri: string }[]).map(({ uri }) => uri);
    expect(uris).toEqual([links[0], links[1], `s+${links[2]}`, `s+${links[3]}`, "s+note://one"]);
    expect((await client.readResource("s+https://t.example/1")).contents).toMatchObject([{ text: "t" }]);
  });
});
