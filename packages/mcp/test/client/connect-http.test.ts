import { connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import type { Revision } from "../../src/protocol/revisions.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import {
  type Arrived,
  event,
  json,
  result,
  type Script,
  type ScriptedServer,
  scriptedServer,
  stream,
} from "../http-client/scripted-server.js";
import { STATEFUL, STATELESS } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function scripted(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer(script);
  open.push(server);
  return server;
}

const serverInfo = { name: "s", version: "1" };
const greeting = { protocolVersion: STATEFUL, capabilities: { tools: {} }, serverInfo };
const discovery = { supportedVersions: [STATELESS], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" };
const methods = (server: ScriptedServer) => server.requests.map(({ method, message }) => message?.method ?? method);
const error = (request: Arrived, code: number, data?: unknown) => ({
  jsonrpc: "2.0",
  id: request.message?.id,
  error: { code, message: "no", ...(data === undefined ? {} : { data }) },
});

/** A legacy server that refuses the probe as `refuse` says. */
function legacy(refuse: Script): Promise<ScriptedServer> {
  return scripted((request, response) => {
    const method = request.message?.method;
    if (method === "server/discover") return refuse(request, response);
    if (method === "initialize") return json(response, result(request, greeting));
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (request.message?.id === undefined) return void response.writeHead(202).end();
    json(response, result(request, { tools: [] }));
  });
}

describe("ERA-09 to ERA-12: what a legacy server may answer to the probe over HTTP", () => {
  const refusals: Record<string, Script> = {
    "400 without a body": (_request, response) => void response.writeHead(400).end(),
    "400 with text": (_request, response) => void response.writeHead(400).end("Bad Request: No valid session ID"),
    "400 with -32000": (request, response) => json(response, error(request, -32000), 400),
    "404 with -32601": (request, response) => json(response, error(request, -32601), 404),
    "404 with a page": (_request, response) => void response.writeHead(404, { "content-type": "text/html" }).end("<p>"),
    "405": (_request, response) => void response.writeHead(405).end(),
    "406": (_request, response) => void response.writeHead(406).end(),
    "415": (_request, response) => void response.writeHead(415).end(),
    "200 with -32601": (request, response) => json(response, error(request, -32601)),
    "200 with -32002": (request, response) => json(response, error(request, -32002)),
    "200 with a result of another kind": (request, response) => json(response, result(request, { ok: true })),
    "200 with a page": (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    "200 with nothing": (_request, response) => void response.writeHead(200).end(),
    "202": (_request, response) => void response.writeHead(202).end(),
    "an event stream with -32601": (request, response) => {
      stream(response);
      response.end(event(error(request, -32601)));
    },
  };
  for (const [name, refuse] of Object.entries(refusals)) {
    it(`${name} leads to the handshake`, async () => {
      const server = await legacy(refuse);
      const client = await connect(server.url);
      open.push(client);
      expect(client.protocolVersion).toBe(STATEFUL);
      expect(methods(server).slice(0, 3)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
      await client.listTools();
    });
  }

  const silent: [number, string][] = [
    [401, "auth_required"],
    [403, "transport_error"],
    [429, "transport_error"],
    [500, "transport_error"],
    [503, "transport_error"],
  ];
  for (const [status, kind] of silent) {
    it(`ERA-12: ${status} is no verdict`, async () => {
      const server = await legacy((_request, response) => void response.writeHead(status).end());
      await expect(connect(server.url)).rejects.toMatchObject({ kind });
      expect(methods(server)).toEqual(["server/discover"]);
    });
  }

  it("ERA-12: a server that nobody runs is no verdict, and the error says that the request never left", async () => {
    const server = await scripted(() => {});
    await server.close();
    await expect(connect(server.url)).rejects.toMatchObject({ kind: "connect_failed", fix: expect.any(String) });
  });

  for (const code of [-32020, -32021]) {
    it(`ERA-09: 400 with ${code} proves the newer era`, async () => {
      const server = await scripted((request, response) => json(response, error(request, code), 400));
      await expect(connect(server.url)).rejects.toMatchObject({ code });
      expect(methods(server)).toEqual(["server/discover"]);
    });
  }

  it("VER-03: 400 with -32022 and nothing shared is an error that names what the server speaks", async () => {
    const server = await scripted((request, response) =>
      json(response, error(request, -32022, { supported: ["1900-01-01"], requested: STATELESS }), 400),
    );
    await expect(connect(server.url)).rejects.toMatchObject({
      kind: "unsupported_version",
      message: expect.stringContaining("1900-01-01"),
    });
    expect(methods(server)).toEqual(["server/discover"]);
  });
});

describe("ERA-01: the verdict about a URL", () => {
  it("is remembered: the second client greets at once", async () => {
    const server = await legacy((_request, response) => void response.writeHead(400).end());
    open.push(await connect(server.url));
    server.requests.length = 0;
    open.push(await connect(server.url));
    expect(methods(server).filter((method) => method !== "GET")[0]).toBe("initialize");
  });

  it("is dropped when it no longer holds", async () => {
    let modern = false;
    const server = await scripted((request, response) => {
      const method = request.message?.method;
      if (modern && method === "server/discover") return json(response, result(request, discovery));
      if (modern) return json(response, error(request, -32601), 404);
      if (method === "initialize") return json(response, result(request, greeting));
      response.writeHead(request.message?.id === undefined && request.method === "POST" ? 202 : 405).end();
    });
    const first = await connect(server.url);
    expect(first.protocolVersion).toBe(STATEFUL);
    await first.close();
    modern = true;
    const second = await connect(server.url);
    open.push(second);
    expect(second.protocolVersion).toBe(STATELESS);
  });

  it("belongs to the full URL, not to the origin", async () => {
    const server = await scripted((request, response) => {
      const modern = request.url === "/modern";
      const method = request.message?.method;
      if (method === "server/discover" && modern) return json(response, result(request, discovery));
      if (method === "initialize" && !modern) return json(response, result(request, greeting));
      response.writeHead(request.message?.id === undefined && request.method === "POST" ? 202 : 404).end();
    });
    const old = await connect(`${server.origin}/old`);
    const modern = await connect(`${server.origin}/modern`);
    open.push(old, modern);
    expect([old.protocolVersion, modern.protocolVersion]).toEqual([STATEFUL, STATELESS]);
  });
});

/** The transport of the first revision at `/sse`. */
function sse(refusal: Script): Promise<ScriptedServer> {
  let events: Parameters<Script>[1] | undefined;
  return scripted((request, response) => {
    if (request.method === "GET") {
      stream(response);
      response.write("event: endpoint\ndata: /messages?s=1\n\n");
      events = response;
    } else if (request.url === "/sse") return refusal(request, response);
    else {
      response.writeHead(202).end();
      if (request.message?.id === undefined) return;
      const answer =
        request.message.method === "initialize" ? { ...greeting, protocolVersion: "2024-11-05" } : { tools: [] };
      events?.write(event(result(request, answer)).replace("data:", "event: message\ndata:"));
    }
  });
}

describe("ERA-13, SSE24-08: the older transport", () => {
  for (const status of [400, 404, 405]) {
    it(`is tried when the handshake is answered with ${status}`, async () => {
      const server = await sse((_request, response) => void response.writeHead(status).end());
      const client = await connect(`${server.origin}/sse`);
      open.push(client);
      expect(client.protocolVersion).toBe("2024-11-05");
      expect(await client.listTools()).toEqual({ tools: [] });
      expect(methods(server).slice(0, 4)).toEqual(["server/discover", "initialize", "GET", "initialize"]);
    });
  }

  for (const status of [401, 403, 410, 500]) {
    it(`is not tried after ${status}`, async () => {
      const server = await sse((_request, response) => void response.writeHead(status).end());
      await expect(connect(`${server.origin}/sse`)).rejects.toThrow();
      expect(methods(server)).not.toContain("GET");
    });
  }

  it("is not tried after an error that only newer servers send", async () => {
    const server = await sse((request, response) => json(response, error(request, -32020), 400));
    await expect(connect(`${server.origin}/sse`, { revisions: [STATEFUL] })).rejects.toMatchObject({ code: -32020 });
    expect(methods(server)).toEqual(["initialize"]);
  });

  it("is not tried for a client that speaks only the newest revision", async () => {
    const server = await sse((_request, response) => void response.writeHead(404).end());
    await expect(connect(`${server.origin}/sse`, { revisions: [STATELESS] })).rejects.toMatchObject({
      kind: "unsupported_version",
    });
    expect(methods(server)).toEqual(["server/discover"]);
  });

  it.each([
    [404, /initialize .*404; the older HTTP\+SSE transport fails in the same way$/],
    [500, /initialize .*404; the older HTTP\+SSE transport failed too: GET .*500/],
  ])("when it fails too, with %d, the error tells of both ways", async (status, message) => {
    const server = await scripted(
      (request, response) => void response.writeHead(request.method === "GET" ? status : 404).end(),
    );
    await expect(connect(server.url)).rejects.toMatchObject({
      kind: "connect_failed",
      message: expect.stringMatching(message),
      fix: expect.stringContaining("/mcp"),
    });
  });
});

describe("the compatibility matrix over HTTP", () => {
  const speaks: Record<string, readonly Revision[]> = {
    modern: ["2026-07-28"],
    legacy: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"],
    dual: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
  };
  const outcomes: Record<string, string> = {
    "modern modern": STATELESS,
    "modern legacy": "unsupported_version",
    "modern dual": STATELESS,
    "legacy legacy": STATEFUL,
    "legacy dual": STATEFUL,
    "legacy modern": "refused",
    "dual modern": STATELESS,
    "dual legacy": STATEFUL,
    "dual dual": STATELESS,
  };
  for (const [pair, outcome] of Object.entries(outcomes)) {
    const [client = "", server = ""] = pair.split(" ");
    it(`a ${client} client and a ${server} server: ${outcome}`, async () => {
      const served = new Server({ name: "s", version: "1" }, { revisions: speaks[server] as Revision[] });
      served.tool("hi", {}, () => "hi");
      const handle = await serveHttp(served, { port: 0 });
      open.push(handle);
      const connecting = connect(handle.url, { revisions: speaks[client] as Revision[] });
      if (outcome === "refused" || outcome === "unsupported_version") {
        await expect(connecting).rejects.toMatchObject({ fix: expect.any(String) });
        return;
      }
      const connected = await connecting;
      open.push(connected);
      expect(connected.protocolVersion).toBe(outcome);
      expect(await connected.call("hi" as never)).toBe("hi");
    });
  }

  it("an injected fetch reaches a server that has no socket", async () => {
    const served = new Server({ name: "s", version: "1" }).tool("hi", {}, () => "hi");
    const handler = fetchHandler(served);
    const client = await connect<typeof served>("http://localhost/mcp", {
      fetch: (url, init) => Promise.resolve(handler(new Request(url, init))),
      revisions: [STATELESS],
    });
    expect(await client.call("hi")).toBe("hi");
    await client.close();
  });
});
