import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { serveSocket } from "../../src/node/socket/socket-server.js";
import { nodeWebSocketTransport } from "../../src/node/socket/websocket-client.js";
import { serveWebSocket } from "../../src/node/socket/websocket-server.js";
import { endpoint } from "./fixtures/endpoint.js";
import { RawClient } from "./raw-client.js";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe("a WebSocket server", () => {
  // Elsewhere 127.0.0.1 is the only address of the loopback network.
  it.skipIf(process.platform !== "linux")("serves clients of the numeric address that it listens on", async () => {
    const handle = await serveWebSocket(endpoint, { host: "127.0.0.2", port: 0, allowUnauthenticated: true });
    ends.push(() => handle.close());
    expect(handle.url).toContain("127.0.0.2");
    const client = await new RawClient(nodeWebSocketTransport(handle.url)).open();
    await client.transport.close();
  });

  it("refuses an opening request with two Hosts", async () => {
    const handle = await serveWebSocket(endpoint, { port: 0 });
    ends.push(() => handle.close());
    const lines = [
      "GET /mcp HTTP/1.1",
      "Host: localhost",
      "Host: evil.example",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol: mcp",
    ];
    const reply = await new Promise<string>((resolve) => {
      const socket = connect(handle.port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
      socket.once("data", (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
    });
    expect(reply).toMatch(/^HTTP\/1.1 400 /);
    expect(reply).toContain("more than one Host");
  });
});

describe.skipIf(process.platform === "win32")("the file of a Unix socket", () => {
  it("is its owner's alone from the moment it exists, and the process keeps its own mask", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-"));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    const mask = process.umask(0);
    ends.push(() => process.umask(mask));
    const path = join(folder, "mcp.sock");
    const starting = serveSocket(endpoint, { path });
    // Looks between any two steps of the server.
    for (let step = 0; step < 10_000 && !existsSync(path); step++) await null;
    const atFirst = statSync(path).mode & 0o777;
    const handle = await starting;
    ends.push(() => handle.close());
    expect([atFirst.toString(8), (statSync(path).mode & 0o777).toString(8)]).toEqual(["600", "600"]);
    expect(process.umask()).toBe(0);
  });
});
