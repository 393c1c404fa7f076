import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { socketTransport } from "../../src/node/socket/socket-client.js";
import { serveSocket } from "../../src/node/socket/socket-server.js";
import { nodeWebSocketTransport } from "../../src/node/socket/websocket-client.js";
import { serveWebSocket } from "../../src/node/socket/websocket-server.js";
import { McpError } from "../../src/protocol/error.js";
import { endpoint } from "./fixtures/endpoint.js";
import { RawClient } from "./raw-client.js";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "parley-"));
  ends.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const places = {
  TCP: async () => {
    const handle = await serveSocket(endpoint, { port: 0 });
    return { handle, transport: () => socketTransport(handle.address) };
  },
  "a Unix socket": async () => {
    const handle = await serveSocket(endpoint, { path: join(folder(), "mcp.sock") });
    return { handle, transport: () => socketTransport(handle.address) };
  },
  "TCP, the server writing Content-Length to a client that writes lines": async () => {
    const handle = await serveSocket(endpoint, { port: 0 }, { framing: "content-length" });
    return { handle, transport: () => socketTransport(handle.address) };
  },
  "TCP, the client writing Content-Length": async () => {
    const handle = await serveSocket(endpoint, { port: 0 });
    return { handle, transport: () => socketTransport(handle.address, { framing: "content-length" }) };
  },
  WebSocket: async () => {
    const handle = await serveWebSocket(endpoint, { port: 0 });
    return { handle, transport: () => nodeWebSocketTransport(handle.url) };
  },
};

describe.each(Object.entries(places))("a server on %s", (_name, place) => {
  const start = async () => {
    const started = await place();
    ends.push(() => started.handle.close());
    const client = async () => {
      const one = await new RawClient(started.transport()).open();
      ends.push(() => one.transport.close());
      return one;
    };
    return { ...started, client };
  };

  it("answers several clients, each its own requests", async () => {
    const { client } = await start();
    const clients = await Promise.all([client(), client(), client()]);
    const answers = await Promise.all(
      clients.map((one, index) => Promise.all(Array.from({ length: 50 }, (_, n) => one.ask("echo", { index, n })))),
    );
    for (const [index, list] of answers.entries()) {
      expect(list).toEqual(Array.from({ length: 50 }, (_, n) => ({ index, n })));
    }
  });

  it("asks its client while a request runs", async () => {
    const { client } = await start();
    expect(await (await client()).ask("ask")).toEqual({ answered: true });
  });

  it("delivers 200 concurrent replies of 64 KiB", async () => {
    const { client } = await start();
    const one = await client();
    const replies = await Promise.all(Array.from({ length: 200 }, () => one.ask("fill", { bytes: 65_536 })));
    for (const reply of replies) expect(reply).toHaveLength(65_536);
  });

  it("lets requests in flight finish when it drains, and rejects what is pending when it closes", async () => {
    const { client, handle } = await start();
    const one = await client();
    await one.ask("echo");
    const slow = one.ask("sleep", { ms: 100 });
    // The request has arrived once a later one is answered.
    await one.ask("echo");
    await handle.drain();
    expect(await slow).toBe("slept");
    await expect(one.ask("echo")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(one.endings).toHaveLength(1);
  });

  it("closes although a request never ends", async () => {
    const { client, handle } = await start();
    const one = await client();
    const endless = one.ask("sleep", { ms: 600_000 }).catch((error: unknown) => error);
    await one.ask("echo");
    await handle.close();
    expect(McpError.is(await endless)).toBe(true);
    await handle.closed;
  });
});

describe("framing", () => {
  it("a server answers in the framing of its client", async () => {
    const handle = await serveSocket(endpoint, { port: 0 });
    ends.push(() => handle.close());
    const text = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"ä"}}';
    const answerTo = async (request: string) => {
      const socket = connect(handle.address as { port: number; host: string });
      socket.end(request);
      const [chunk] = (await once(socket, "data")) as [Buffer];
      return chunk.toString();
    };
    const answer = '{"jsonrpc":"2.0","id":1,"result":{"a":"ä"}}';
    expect(await answerTo(`${text}\n`)).toBe(`${answer}\n`);
    const framed = `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    expect(await answerTo(framed)).toBe(`Content-Length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`);
  });
});

describe("addresses", () => {
  it("a client says what was not there", async () => {
    const free = await serveSocket(endpoint, { port: 0 });
    await free.close();
    const client = new RawClient(socketTransport(free.address));
    await expect(client.open()).rejects.toMatchObject({
      kind: "connect_failed",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    const missing = new RawClient(socketTransport({ path: "/no/such/socket" }));
    await expect(missing.open()).rejects.toMatchObject({ message: expect.stringContaining("ENOENT") });
  });

  it("a taken address says so, and a socket that a killed server left behind is taken over", async () => {
    const path = join(folder(), "mcp.sock");
    const first = await serveSocket(endpoint, { path });
    await expect(serveSocket(endpoint, { path })).rejects.toMatchObject({
      fix: expect.stringContaining("another address"),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await first.close();
    expect(existsSync(path)).toBe(false);
  });

  it("an address beyond loopback needs a decision", async () => {
    await expect(serveSocket(endpoint, { port: 0, host: "0.0.0.0" })).rejects.toMatchObject({
      kind: "invalid_definition",
    });
    await expect(serveWebSocket(endpoint, { port: 0, host: "0.0.0.0" })).rejects.toMatchObject({
      kind: "invalid_definition",
    });
    const open = await serveSocket(endpoint, { port: 0, host: "0.0.0.0" }, { allowUnauthenticated: true });
    await open.close();
  });

  it("a refused connection is closed before anything is read", async () => {
    const handle = await serveSocket(endpoint, { port: 0 }, { authenticate: () => undefined });
    ends.push(() => handle.close());
    const client = await new RawClient(socketTransport(handle.address)).open();
    await expect(client.ask("echo")).rejects.toMatchObject({ kind: "connection_closed" });
  });

  it.each(["COPY", "CHECKOUT", "copy", "CONNECT", "GET", "Content-Lengt", "É", '"a"'])(
    "a browser cannot reach a TCP server by a request with the method %s",
    async (method) => {
      let runs = 0;
      const counting: typeof endpoint = {
        ...endpoint,
        request(...of) {
          runs++;
          return endpoint.request(...of);
        },
      };
      const handle = await serveSocket(counting, { port: 0 });
      ends.push(() => handle.close());
      const socket = connect(handle.address as { port: number; host: string });
      socket.on("error", () => {});
      const closed = once(socket, "close");
      const call = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}\n';
      // In two pieces, so that the first one decides nothing.
      socket.write(method.slice(0, 2));
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.write(`${method.slice(2)} / HTTP/1.1\r\nHost: localhost\r\n\r\n\n${call}`);
      await closed;
      expect(runs).toBe(0);
    },
  );

  it.each([
    ["a byte order mark", "\ufeff"],
    ["empty lines", "\r\n\n \t"],
  ])("a message may follow %s", async (_what, before) => {
    const handle = await serveSocket(endpoint, { port: 0 });
    ends.push(() => handle.close());
    const socket = connect(handle.address as { port: number; host: string });
    socket.write(`${before}{"jsonrpc":"2.0","id":1,"method":"echo","params":{"reached":true}}\n`);
    const [chunk] = await once(socket, "data");
    socket.destroy();
    expect(String(chunk)).toContain("reached");
  });

  it("a browser cannot reach a TCP server by a form that contains messages", async () => {
    const handle = await serveSocket(endpoint, { port: 0 });
    ends.push(() => handle.close());
    const socket = connect(handle.address as { port: number; host: string });
    let seen = "";
    socket.on("data", (chunk) => {
      seen += chunk.toString();
    });
    const body = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"reached":true}}\n';
    socket.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, "close");
    expect(seen).not.toContain("reached");
  });
});

describe("who may open a WebSocket", () => {
  const opening = async (headers: Record<string, string>, protocol = "mcp", path = "/mcp") => {
    const handle = await serveWebSocket(endpoint, { port: 0 });
    ends.push(() => handle.close());
    const url = new URL(handle.url);
    const socket = new WebSocket(`ws://${url.host}${path}`, protocol === "" ? [] : [protocol], { headers });
    ends.push(() => socket.terminate());
    return new Promise<number>((resolve) => {
      socket.on("open", () => resolve(101));
      socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
      socket.on("error", () => {});
    });
  };

  it.each([
    ["a program without Origin", {}, "mcp", "/mcp", 101],
    ["a page of this machine", { origin: "http://localhost:5173" }, "mcp", "/mcp", 101],
    ["a page of another site", { origin: "https://evil.example" }, "mcp", "/mcp", 403],
    ["a page with the opaque origin", { origin: "null" }, "mcp", "/mcp", 403],
    ["a name that was rebound to this machine", { host: "evil.example:3001" }, "mcp", "/mcp", 403],
    ["a client of another subprotocol", {}, "chat", "/mcp", 400],
    ["a client without subprotocol", {}, "", "/mcp", 400],
    ["another path", {}, "mcp", "/other", 404],
  ])("%s", async (_who, headers, protocol, path, status) => {
    expect(await opening(headers as Record<string, string>, protocol, path)).toBe(status);
  });

  it("a plain request is told to upgrade", async () => {
    const handle = await serveWebSocket(endpoint, { port: 0 });
    ends.push(() => handle.close());
    const status = await new Promise((resolve) => {
      httpRequest(handle.url.replace("ws:", "http:"), (response) => resolve(response.resume().statusCode)).end();
    });
    expect(status).toBe(426);
  });

  it("the caller's identity reaches the endpoint, a stranger gets 401", async () => {
    const seen: unknown[] = [];
    const watching = { ...endpoint, opened: (peer: { principal?: unknown }) => void seen.push(peer.principal) };
    const handle = await serveWebSocket(watching, {
      port: 0,
      authenticate: (request) => (request.header("authorization") === "Bearer t" ? { key: "user" } : undefined),
    });
    ends.push(() => handle.close());
    const known = await new RawClient(
      nodeWebSocketTransport(handle.url, { headers: { authorization: "Bearer t" } }),
    ).open();
    ends.push(() => known.transport.close());
    expect(seen).toEqual([{ key: "user" }]);
    const stranger = new RawClient(nodeWebSocketTransport(handle.url, { headers: {} }));
    await expect(stranger.open()).rejects.toMatchObject({
      kind: "connect_failed",
      message: expect.stringContaining("401"),
    });
  });

  it("a message above `maxMessageBytes` ends the connection with a reason", async () => {
    const handle = await serveWebSocket(endpoint, { port: 0, maxMessageBytes: 1000 });
    ends.push(() => handle.close());
    const client = await new RawClient(nodeWebSocketTransport(handle.url)).open();
    await expect(client.ask("echo", { text: "x".repeat(2000) })).rejects.toMatchObject({ data: { code: 1009 } });
  });

  it("a connection that answers no pings is cut", async () => {
    const handle = await serveWebSocket(endpoint, { port: 0, pingEveryMs: 20 });
    ends.push(() => handle.close());
    const socket = new WebSocket(handle.url, "mcp", { autoPong: false });
    await once(socket, "close");
  });
});
