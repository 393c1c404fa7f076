import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, connect, McpError } from "@parley/mcp";
import { Host, type HostEntry } from "@parley/mcp/host";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL } from "../../../src/protocol/revisions.js";
import { writtenServer } from "../servers/written-server.js";

const SECRET = "SECRETPATH";
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Answer = (response: ServerResponse, id: unknown) => void;

const json = (response: ServerResponse, status: number, value: unknown, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
const status =
  (code: number, headers = {}): Answer =>
  (response) =>
    response.writeHead(code, { "content-type": "text/plain", ...headers }).end(`no: ${SECRET}`);

const WAYS: Record<string, Answer> = {
  html: (response) => response.writeHead(200, { "content-type": "text/html" }).end(`<p>${SECRET}</p>`),
  "broken JSON": (response) => response.writeHead(200, { "content-type": "application/json" }).end(`{${SECRET}`),
  "wrong id": (response) => json(response, 200, { jsonrpc: "2.0", id: "other", result: { content: [] } }),
  "cut off": (response) => response.writeHead(200, { "content-type": "application/json" }).destroy(),
  "no array": (response, id) => json(response, 200, { jsonrpc: "2.0", id, result: { content: SECRET } }),
  redirect: (response) => response.writeHead(307, { location: `http://127.0.0.1:1/${SECRET}` }).end(),
  "401": status(401, { "www-authenticate": `Bearer realm="${SECRET}"` }),
  "403": status(403),
  "404": status(404),
  "410": status(410),
  "429": status(429, { "retry-after": "7" }),
  "503": status(503, { "retry-after": "3" }),
  "429 with an error": (response, id) =>
    json(response, 429, { jsonrpc: "2.0", id, error: { code: -32000, message: "calm down" } }, { "retry-after": "7" }),
};

/** A server over HTTP without sessions whose answer to a call is named by the call. */
async function oddServer(): Promise<HostEntry> {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: Record<string, unknown> };
    const reply = (result: object) => json(response, 200, { jsonrpc: "2.0", id, result });
    if (id === undefined) return response.writeHead(202).end();
    if (method === "initialize") {
      const serverInfo = { name: "odd", version: "1" };
      return reply({ protocolVersion: params["protocolVersion"], capabilities: { tools: {} }, serverInfo });
    }
    if (method === "tools/list") return reply({ tools: [{ name: "odd", inputSchema: { type: "object" } }] });
    const answer = method === "tools/call" ? WAYS[(params["arguments"] as { way: string }).way] : undefined;
    if (answer === undefined) return reply({});
    return answer(response, id);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/${SECRET}/mcp?key=${SECRET}` };
}

async function gateway(entry: HostEntry) {
  const reported: { error: unknown; reference: string }[] = [];
  const warnings: string[] = [];
  const host = new Host({
    servers: { odd: entry },
    client: { revisions: [NEWEST_STATEFUL] },
    circuit: false,
    startWaitMs: 60_000,
    platform: { warn: (message) => void warnings.push(message) },
  });
  closers.push(() => host.close());
  const onError = (error: unknown, { reference }: { reference: string }) => void reported.push({ error, reference });
  const front = host.asServer({ server: { onError } });
  await host.start();
  const client = await connect(front, { onWarning: () => {} });
  closers.push(() => client.close());
  return { host, client: client as Client, reported, warnings };
}

const failed = (client: Client, args: object) =>
  client.callTool("odd__odd" as never, args as never).then(
    () => expect.unreachable("the call must fail"),
    (error: unknown) => error as McpError,
  );

describe("what clients of a gateway get of a server that", () => {
  it.each(Object.keys(WAYS))("answers a call wrongly (%s) is a neutral error", async (way) => {
    const { client, reported } = await gateway(await oddServer());
    const error = await failed(client, { way });
    const sent = JSON.stringify([error.message, error.data]);
    expect(sent).not.toContain(SECRET);
    expect(sent).not.toContain("127.0.0.1");
    if (way === "429 with an error") {
      expect(error).toMatchObject({ message: "calm down", data: { retryAfterMs: 7_000 } });
      return;
    }
    expect(error.message).toContain('the server "odd" behind this gateway');
    // The operator gets the cause, under the reference that the caller got.
    expect(reported).toHaveLength(1);
    expect(reported[0]?.reference).toBe((error.data as { reference: string }).reference);
    expect(McpError.is(reported[0]?.error)).toBe(true);
  });

  it.each([
    ["401", "does not accept the credentials of the gateway (HTTP 401)", {}],
    ["403", "does not allow this request from the gateway (HTTP 403)", {}],
    ["404", "was not found at the address that the gateway uses (HTTP 404)", {}],
    ["410", "refused the request of the gateway (HTTP 410)", {}],
    ["429", "received too many requests (HTTP 429)", { retryAfterMs: 7_000 }],
    ["503", "failed, or could not be reached (HTTP 503)", { retryAfterMs: 3_000 }],
    ["no array", "sent an invalid answer", {}],
  ])("answers with %s names it", async (way, text, data) => {
    const { client } = await gateway(await oddServer());
    const error = await failed(client, { way });
    expect(error.message).toContain(text);
    expect(error.message.includes("may or may not have run")).toBe(false);
    expect(error.data).toMatchObject({ server: "odd", ...data });
  });

  it("sends an answer that is too long has no command line", async () => {
    const long = `const handle = (id, method) => {
      if (method === "tools/list") return reply(id, { tools: [tool("odd")] });
      if (method === "tools/call") return reply(id, text("x".repeat(200000)));
      return true;
    };`;
    const entry = writtenServer(long);
    const { client } = await gateway({ ...entry, args: [...(entry.args ?? []), SECRET], maxMessageBytes: 100_000 });
    const error = await failed(client, {});
    expect(error.message).toContain("sent an answer that is too long for the gateway");
    expect(JSON.stringify([error.message, error.data])).not.toContain(SECRET);
  });

  it("does not start for a client with its own connection has no command line", async () => {
    const once = `const { existsSync, writeFileSync } = require("node:fs");
      const handle = (id, method) => {
        if (method === "tools/list") return reply(id, { tools: [tool("odd")] });
        return true;
      };
      if (process.env.MARK !== undefined && existsSync(process.env.MARK)) process.exit(3);
      writeFileSync(process.env.MARK, "started");`;
    const entry = writtenServer(once);
    const { mkdtempSync } = await import("node:fs");
    const { tmpdir } = await import("node:os");
    const folder = mkdtempSync(`${tmpdir()}/parley-neutral-`);
    const args = [...(entry.args ?? []), SECRET];
    const { client } = await gateway({ ...entry, args, env: { MARK: `${folder}/mark` }, isolation: "client" });
    const error = await client.allTools().catch((caught: unknown) => caught as McpError);
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify([(error as McpError).message, (error as McpError).data])).not.toContain(SECRET);
    expect((error as McpError).message).toContain('the server "odd" behind this gateway');
  });

  it("has flaws in its result passes without them, and names the server to the operator", async () => {
    const flawed = `const handle = (id, method) => {
      if (method === "tools/list") return reply(id, { tools: [tool("odd"), { name: 5 }] });
      if (method === "tools/call") return reply(id, { content: [{ type: "text", text: "kept" }, { type: "text" }] });
      return true;
    };`;
    const { client, warnings } = await gateway(writtenServer(flawed));
    expect((await client.callTool("odd__odd" as never)).content).toEqual([{ type: "text", text: "kept" }]);
    expect(warnings.join("\n")).toContain('the server "odd": the answer to tools/list: tools[1]');
  });
});
