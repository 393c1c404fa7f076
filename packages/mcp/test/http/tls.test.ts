import { Agent as HttpAgent } from "node:http";
import { Agent } from "node:https";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { connect, McpError, Server } from "@parley/mcp";
import { nodeSender, serveHttp } from "@parley/mcp/node";
import { httpTransport } from "@parley/mcp/transport";
import { afterEach, describe, expect, it } from "vitest";
import { TEST_CERTIFICATE } from "./test-certificate.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const make = () =>
  new Server({ name: "safe", version: "1" })
    .tool("hello", {}, () => "hello")
    .tool("who", {}, (_args, ctx) => ctx.auth?.key ?? "nobody");
const { cert, key } = TEST_CERTIFICATE;

describe("TLS", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)(
    "serves https by `tls`, to a client that trusts the certificate, in %s",
    async (revision) => {
      const handle = await serveHttp(make(), { port: 0, tls: { cert, key } });
      open.push(handle);
      expect(handle.url).toMatch(/^https:/);
      const sender = nodeSender({ agents: { https: new Agent({ ca: cert }) } });
      const client = await connect(handle.url ?? "", { sender, revisions: [revision] });
      open.push(client);
      expect(await client.call("hello")).toBe("hello");
      const direct = await connect(httpTransport(handle.url ?? "", { sender }), { revisions: [revision] });
      open.push(direct);
      expect(await direct.call("hello")).toBe("hello");
      const stranger = await connect(handle.url ?? "", { revisions: [revision] }).catch(McpError.from);
      expect(stranger).toMatchObject({
        kind: "connect_failed",
        message: expect.stringMatching(/certificate|self-signed/i),
        fix: expect.stringMatching(/^Correct the certificate of the server, or trust its issuer/),
      });
      const plain = (handle.url ?? "").replace("https:", "http:");
      await expect(connect(plain, { revisions: [revision], timeouts: { connectMs: 2000 } })).rejects.toThrow();
    },
  );

  it("asks for client certificates, which `authenticate` can read", async () => {
    const handle = await serveHttp(make(), {
      port: 0,
      tls: { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true },
      authenticate: (_request, native) => {
        const { socket } = native as { socket: TLSSocket };
        return { key: String(socket.getPeerCertificate().subject.CN) };
      },
    });
    open.push(handle);
    const known = nodeSender({ agents: { https: new Agent({ ca: cert, cert, key }) } });
    const client = await connect(handle.url ?? "", { sender: known });
    open.push(client);
    expect(await client.call("who")).toBe("parley test");
    const unknown = nodeSender({ agents: { https: new Agent({ ca: cert }) } });
    await expect(connect(handle.url ?? "", { sender: unknown, timeouts: { connectMs: 5000 } })).rejects.toThrow();
  });

  it("a wrong key is refused when serving starts", async () => {
    await expect(serveHttp(make(), { port: 0, tls: { cert, key: "no key" } })).rejects.toMatchObject({
      kind: "invalid_definition",
      message: expect.stringContaining("`tls`"),
    });
  });
});

describe("agents", () => {
  it("lead requests through a proxy", async () => {
    const handle = await serveHttp(make(), { port: 0 });
    open.push(handle);
    let tunnels = 0;
    const sockets = new Set<Socket>();
    const proxy = createServer((socket) => {
      tunnels++;
      const onward = connectSocket(handle.port ?? 0, "127.0.0.1");
      for (const end of [socket, onward]) sockets.add(end.on("error", () => {}));
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    open.push({
      close: () =>
        new Promise((resolve) => {
          for (const socket of sockets) socket.destroy();
          proxy.close(resolve);
        }),
    });
    const { port } = proxy.address() as AddressInfo;
    const agent = new HttpAgent({ keepAlive: true });
    agent.createConnection = () => connectSocket(port, "127.0.0.1");
    const client = await connect(handle.url ?? "", { sender: nodeSender({ agents: { http: agent } }) });
    open.push(client);
    expect(await client.call("hello")).toBe("hello");
    expect(tunnels).toBeGreaterThan(0);
    agent.destroy();
  });
});
