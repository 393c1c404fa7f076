import { createServer, request as httpRequest } from "node:http";
import { connect as connectSocket } from "node:net";
import { Server } from "@parley/mcp";
import { resourceServer } from "@parley/mcp/auth";
import { nodeHandler, serveHttp, serveWebSocket } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { freePort } from "../free-port.js";
import { message } from "./resource-fixture.js";
import { TestIssuer } from "./test-issuer.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Tools that run for longer than any token of these tests. */
function slow(): Server {
  const never = (signal: AbortSignal) =>
    new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return new Server({ name: "slow", version: "1" })
    .resource("slow://r", {}, () => "r")
    .tool("silent", (_args, { signal }) => never(signal))
    .tool("busy", async (_args, ctx) => {
      for (let count = 1; !ctx.signal.aborted && count < 1_000; count++) {
        ctx.progress(count);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return "";
    });
}

async function started(serve: typeof serveHttp | typeof serveWebSocket) {
  const issuer = await TestIssuer.start();
  cleanups.push(() => issuer.close());
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const auth = resourceServer({ resource, issuer: issuer.issuer });
  const handle = await serve(slow(), { port, auth });
  cleanups.push(() => handle.close());
  /** A token, and when it ends. */
  const token = async (sub: string, seconds: number) => {
    const exp = Math.floor(Date.now() / 1_000) + seconds;
    return { text: await issuer.token({ aud: resource, sub, exp }), endsAt: exp * 1_000 };
  };
  return { resource, port, url: handle.url, token };
}

/** How long tokens last that end in a test: longer than a slow machine takes to open what they open. */
const LIVES_S = 6;
const HEADERS = { accept: "application/json, text/event-stream", "content-type": "application/json" };

/** Reads until the stream ends, and tells when that was. */
async function endOf(response: Response): Promise<number> {
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  for await (const _chunk of response.body ?? []) {
    // Only the end counts.
  }
  return Date.now();
}

function expectAt(ended: number, endsAt: number): void {
  expect(ended - endsAt).toBeGreaterThan(-100);
}

/** Opens a session of the stateful era. */
async function opened(url: string, token: string) {
  const headers = { ...HEADERS, authorization: `Bearer ${token}`, "mcp-protocol-version": "2025-11-25" };
  const post = (body: object, more: Record<string, string> = {}) =>
    fetch(url, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const answer = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  await answer.text();
  const session = { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
  await post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return { session, headers, post: (body: object) => post(body, session) };
}

describe("a stream ends with the token that opened it (hardening 6.1, AUTHS-11)", () => {
  it("in a session: the stream of the session, and those of calls, busy or silent", async () => {
    const { url, token } = await started(serveHttp);
    const { text, endsAt } = await token("ada", LIVES_S);
    const { session, headers, post } = await opened(url, text);
    const call = (name: string) => ({
      jsonrpc: "2.0",
      id: name,
      method: "tools/call",
      params: { name, arguments: {}, _meta: { progressToken: name } },
    });
    const open = await Promise.all([
      fetch(url, { headers: { ...headers, ...session, accept: "text/event-stream" } }),
      post(call("busy")),
      post(call("silent")),
    ]);
    for (const ended of await Promise.all(open.map(endOf))) expectAt(ended, endsAt);
  });

  it("without a session: subscriptions and calls", async () => {
    const { url, token } = await started(serveHttp);
    const { text, endsAt } = await token("ada", LIVES_S);
    const post = (method: string, params: Record<string, unknown>) =>
      fetch(url, {
        method: "POST",
        headers: {
          ...HEADERS,
          authorization: `Bearer ${text}`,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
        },
        body: JSON.stringify(message(method, params)),
      });
    const open = await Promise.all([
      post("subscriptions/listen", { notifications: { resourceSubscriptions: ["slow://r"] } }),
      post("tools/call", { name: "silent", arguments: {} }),
    ]);
    for (const ended of await Promise.all(open.map(endOf))) expectAt(ended, endsAt);
    expect((await post("tools/list", {})).status).toBe(401);
  });

  it("on a WebSocket, busy or silent", async () => {
    const { url, token } = await started(serveWebSocket);
    const ended = await Promise.all(
      [false, true].map(async (isBusy) => {
        const { text, endsAt } = await token("ada", LIVES_S);
        const socket = new WebSocket(url, ["mcp"], { headers: { authorization: `Bearer ${text}` } });
        let beat: NodeJS.Timeout | undefined;
        socket.on("open", () => {
          const ping = () => socket.send(JSON.stringify(message("tools/list", {})));
          if (isBusy) beat = setInterval(ping, 20);
        });
        socket.on("error", () => {});
        await new Promise((resolve) => socket.on("close", resolve));
        clearInterval(beat);
        return Date.now() - endsAt;
      }),
    );
    for (const late of ended) expectAt(late, 0);
  });
});

describe("what belongs to somebody else does not exist (hardening 6.1.9)", () => {
  it("a session of another user is answered like one that never was, byte for byte", async () => {
    const { url, token } = await started(serveHttp);
    const ada = await token("ada", 300);
    const eve = await token("eve", 300);
    const { session, headers } = await opened(url, ada.text);
    const asEve = { ...headers, authorization: `Bearer ${eve.text}` };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/list", params: {} });
    for (const method of ["POST", "GET", "DELETE"]) {
      const of = async (id: string) => {
        const init = { method, headers: { ...asEve, "mcp-session-id": id }, ...(method === "POST" ? { body } : {}) };
        const response = await fetch(url, init);
        const { date: _now, ...all } = Object.fromEntries(response.headers);
        return { status: response.status, all, text: await response.text() };
      };
      const id = session["mcp-session-id"];
      expect(await of(id)).toEqual(await of(`${id.slice(0, -4)}zzzz`));
    }
    const own = await fetch(url, { method: "POST", headers: { ...headers, ...session }, body });
    expect(own.status).toBe(200);
  });
});

/** Sends text over a plain connection, and returns what comes back within a moment of the first byte. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, "127.0.0.1", () => socket.write(text));
    cleanups.push(() => socket.destroy());
    socket.setEncoding("utf8").once("data", resolve).once("error", reject);
  });
}

describe("requests at the edge of HTTP", () => {
  it("AUTHS-05: two Authorization headers are refused, whichever is good; also on a WebSocket", async () => {
    for (const serve of [serveHttp, serveWebSocket]) {
      const { port, token } = await started(serve);
      const { text } = await token("ada", 300);
      const both = `authorization: Bearer ${text}\r\nAuthorization: Bearer other\r\n`;
      const start = `${serve === serveHttp ? "POST" : "GET"} /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
      const upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n";
      const key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: mcp\r\n";
      const rest = serve === serveHttp ? "content-length: 0\r\n" : upgrade + key;
      expect(await raw(port, `${start}${both}${rest}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
      const one = `authorization: Bearer ${text}\r\n`;
      expect(await raw(port, `${start}${one}${rest}\r\n`)).toMatch(serve === serveHttp ? /^HTTP\/1\.1 415 / : / 101 /);
    }
  });

  it("hardening 6.1.12: 401 comes before the first byte of the body", async () => {
    const { port } = await started(serveHttp);
    const head = `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n`;
    const answer = await raw(port, `${head}content-length: ${4 * 1024 * 1024}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  it("AUTHS-01, AUTHS-02: a WebSocket without a token is refused with a challenge, whose metadata is there", async () => {
    const { url, resource, port } = await started(serveWebSocket);
    const socket = new WebSocket(url, ["mcp"]);
    const challenge = await new Promise<string>((resolve) => {
      socket.on("error", () => {});
      socket.on("unexpected-response", (_request, response) => {
        resolve(`${response.statusCode} ${response.headers["www-authenticate"]}`);
        response.destroy();
      });
    });
    const metadata = `http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`;
    expect(challenge).toBe(`401 Bearer resource_metadata="${metadata}"`);
    expect(await (await fetch(metadata)).json()).toMatchObject({ resource });
    expect((await fetch(resource)).status).toBe(426);
  });
});

describe("where the metadata is", () => {
  const issuer = "https://login.example";

  it("inside another server, under a path: the application sends it there (AUTHS-01)", async () => {
    const port = await freePort();
    const auth = resourceServer({ resource: `http://127.0.0.1:${port}/shop/mcp`, issuer });
    const handler = nodeHandler(slow(), { auth });
    cleanups.push(() => handler.close());
    const app = createServer((request, response) => {
      const path = request.url?.split("?", 1)[0] ?? "";
      if (path === "/shop/mcp" || auth.paths.has(path)) handler(request, response);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => app.listen(port, "127.0.0.1", resolve));
    cleanups.push(() => app.close());
    const refused = await fetch(`http://127.0.0.1:${port}/shop/mcp`, { method: "POST" });
    const address = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1] ?? "";
    expect(address).toBe(`http://127.0.0.1:${port}/.well-known/oauth-protected-resource/shop/mcp`);
    expect(await (await fetch(address)).json()).toMatchObject({ resource: auth.resource });
  });

  it("behind a proxy with a prefix: at the address that clients use, not the one of this process (AUTHS-01)", async () => {
    const auth = resourceServer({ resource: "https://public.example/api/mcp", issuer });
    const handle = await serveHttp(slow(), { port: 0, auth });
    cleanups.push(() => handle.close());
    const from = (path: string, method: string) =>
      new Promise<{ status: number | undefined; challenge: string | undefined; body: string }>((resolve) => {
        const options = { port: handle.port, host: "127.0.0.1", path, method, headers: { host: "public.example" } };
        httpRequest(options, (response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            body += chunk;
          });
          const challenge = response.headers["www-authenticate"];
          response.on("end", () => resolve({ status: response.statusCode, challenge, body }));
        }).end();
      });
    const path = "/.well-known/oauth-protected-resource/api/mcp";
    expect((await from("/mcp", "POST")).challenge).toBe(`Bearer resource_metadata="https://public.example${path}"`);
    const { status, body } = await from(path, "GET");
    expect([status, JSON.parse(body).resource]).toEqual([200, "https://public.example/api/mcp"]);
  });
});
