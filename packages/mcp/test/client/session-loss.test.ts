import { connect } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { type Arrived, json, result, type ScriptedServer, scriptedServer } from "../http-client/scripted-server.js";
import { until } from "../http-client/virtual-time.js";
import { impatient } from "./impatient.js";
import { greetsIn, STATEFUL, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A stateful server that forgets its sessions when told to. */
async function forgetful(): Promise<ScriptedServer & { forget(): void; live: Set<string>; ran: string[] }> {
  const live = new Set<string>();
  const ran: string[] = [];
  let sessions = 0;
  const greet = (request: Arrived) =>
    result(request, {
      protocolVersion: STATEFUL,
      capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
      serverInfo: { name: "s", version: "1" },
    });
  const server = await scriptedServer((request, response) => {
    const { message, headers } = request;
    if (request.method === "GET") return void response.writeHead(405).end();
    if (request.method === "DELETE") return void response.writeHead(200).end();
    if (message?.method === "initialize") {
      sessions++;
      live.add(`s${sessions}`);
      return json(response, greet(request), 200, { "mcp-session-id": `s${sessions}` });
    }
    if (!live.has(String(headers["mcp-session-id"]))) return void response.writeHead(404).end();
    if (message?.id === undefined) return void response.writeHead(202).end();
    ran.push(String(message.method));
    json(response, result(request, { content: [{ type: "text", text: "done" }], tools: [] }));
  });
  open.push(server);
  return Object.assign(server, { forget: () => live.clear(), live, ran });
}

const handshakes = ({ requests }: ScriptedServer) =>
  requests.filter(({ message }) => message?.method === "initialize").length;

describe("a server that lost its sessions", () => {
  it("is greeted once for 20 concurrent calls, and each of them succeeds", async () => {
    const server = await forgetful();
    const client = await connect(server.url, { revisions: [STATEFUL] });
    open.push(client);
    const reasons: string[] = [];
    client.on("session.recovered", ({ reason }) => reasons.push(reason.kind));
    server.forget();
    const results = await Promise.all(Array.from({ length: 20 }, () => client.callTool("work")));
    expect(results).toHaveLength(20);
    expect(handshakes(server)).toBe(2);
    expect(server.ran).toHaveLength(20);
    expect(reasons).toEqual(["session_lost"]);
  });

  it("is greeted once more for each loss, 10 times in a row", async () => {
    const server = await forgetful();
    const client = await connect(server.url, { revisions: [STATEFUL] });
    open.push(client);
    for (let loss = 1; loss <= 10; loss++) {
      server.forget();
      await Promise.all([client.callTool("a"), client.listTools(), client.callTool("b")]);
      expect(handshakes(server)).toBe(1 + loss);
    }
    expect(server.ran).toHaveLength(30);
  });

  it("resend: never rejects the call, and the session is replaced all the same", async () => {
    const server = await forgetful();
    const client = await connect(server.url, { revisions: [STATEFUL], resend: "never" });
    open.push(client);
    server.forget();
    await expect(client.callTool("work")).rejects.toMatchObject({ kind: "session_lost", fix: expect.any(String) });
    await client.callTool("work");
    expect(handshakes(server)).toBe(2);
  });

  it("hears the subscriptions and the log level again before any other call", async () => {
    const server = await forgetful();
    const client = await connect(server.url, { revisions: [STATEFUL], logLevel: "warning" });
    open.push(client);
    const subscription = await client.subscribe("file:///x");
    expect(server.ran).toEqual(["logging/setLevel", "resources/subscribe"]);
    server.forget();
    await client.callTool("work");
    expect(server.ran.slice(2)).toEqual(["logging/setLevel", "resources/subscribe", "tools/call"]);
    const next = await subscription[Symbol.asyncIterator]().next();
    expect(next.value).toEqual({ kind: "resource", uri: "file:///x", missed: true });
  });

  it("a server that forgets every session at once does not make the client loop", async () => {
    const server = await forgetful();
    const client = await connect(server.url, { revisions: [STATEFUL], platform: impatient });
    open.push(client);
    server.live.add = () => server.live;
    server.forget();
    await expect(client.callTool("work")).rejects.toMatchObject({ kind: "session_lost" });
    await until(() => client.state === "ready" || client.state === "disconnected");
    expect(handshakes(server)).toBeLessThan(15);
  });
});

describe("a server that is not there for a while", () => {
  it("a call that never left is sent again once, a call that may have run is not", async () => {
    let broken = 2;
    const server = await scriptedServer((request, response) => {
      const method = request.message?.method;
      if (method === "server/discover") {
        return json(response, result(request, { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }));
      }
      if (broken-- > 0) return void response.destroy();
      json(response, result(request, { content: [], tools: [] }));
    });
    open.push(server);
    const client = await connect(server.url, { platform: impatient });
    open.push(client);
    await expect(client.callTool("work")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(await client.listTools()).toMatchObject({ tools: [] });
    expect(server.requests.filter(({ message }) => message?.method === "tools/list")).toHaveLength(2);
  });
});

describe("a server that ends while it waits for an answer", () => {
  it("is no longer answered: whoever would answer is told", async () => {
    const params = { message: "who?", requestedSchema: { type: "object", properties: {} } };
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateful", message, pipe)) return;
      pipe.say({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params });
    });
    const unwanted: unknown[] = [];
    const client = await connect(server, {
      platform: impatient,
      onElicit: (_question, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            unwanted.push(signal.reason);
            reject(signal.reason);
          });
          server.pipes[0]?.end();
        }),
    });
    open.push(client);
    await expect(client.callTool("work")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(unwanted).toMatchObject([{ kind: "cancelled" }]);
  });
});
