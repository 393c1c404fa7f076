import { Agent } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { isBodyTooLarge } from "../../src/http/body-limit.js";
import type { Sender, SendRequest, SendResponse } from "../../src/http/http.js";
import { nodeSender } from "../../src/node/http/sender.js";
import { platform } from "../../src/node/platform.js";
import { httpClientTransport } from "../../src/transport/http/client/client.js";
import { closeAll, later, SENDERS } from "./opened.js";
import { call, recordingReceiver, rejection } from "./recording-receiver.js";
import { type Script, type ScriptedServer, scriptedServer } from "./scripted-server.js";
import { until } from "./virtual-time.js";

afterEach(closeAll);

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer(script);
  later(() => server.close());
  return server;
}

function sent(sender: Sender, request: SendRequest): Promise<SendResponse> {
  return new Promise((resolve, reject) => {
    sender(request, resolve, reject);
  });
}

describe.each(SENDERS)("the sender over %s", (_name, makeSender) => {
  const sender = makeSender();
  const send = (request: SendRequest) => sent(sender, request);

  it("sends method, path, query, headers and a body in UTF-8", async () => {
    const server = await serve((_request, response) => void response.writeHead(200, { "X-Two": ["a", "b"] }).end("é"));
    const response = await send({
      method: "POST",
      url: `${server.origin}/p?q=1`,
      headers: ["x-one", "1"],
      body: "ü世",
    });
    expect(response.status).toBe(200);
    expect(response.header("x-two")).toBe("a, b");
    expect(response.header("X-Two")).toBe("a, b");
    expect(response.header("x-none")).toBeUndefined();
    expect(await response.text(100)).toBe("é");
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", url: "/p?q=1", body: "ü世" });
    expect(request?.headers).toMatchObject({ host: server.origin.slice(7), "x-one": "1", "content-length": "5" });
  });

  it("tells all headers by their lower-case names, with several values joined", async () => {
    const headers = { "X-Two": ["a", "b"], "Set-Cookie": ["c=1", "d=2"], "Content-Type": "text/plain" };
    const server = await serve((_request, response) => void response.writeHead(200, headers).end());
    const response = await send({ method: "GET", url: server.origin, headers: [] });
    const told = response.headers?.();
    expect(told).toMatchObject({ "x-two": "a, b", "set-cookie": "c=1, d=2", "content-type": "text/plain" });
    expect(Object.keys(told ?? {}).filter((name) => name !== name.toLowerCase())).toEqual([]);
    response.cancel();
  });

  it.each([301, 302, 303, 307, 308])("hands a %i back instead of following it", async (status) => {
    const server = await serve((_request, response) => void response.writeHead(status, { location: "/b" }).end());
    const response = await send({ method: "GET", url: `${server.origin}/a`, headers: [] });
    expect([response.status, response.header("location")]).toEqual([status, "/b"]);
    response.cancel();
    expect(server.requests).toHaveLength(1);
  });

  it("reads a body of exactly the limit, with and without a length, and refuses one byte more", async () => {
    const server = await serve((request, response) => {
      const body = Buffer.alloc(Number(request.url.slice(2)), "x");
      if (request.url.startsWith("/l")) response.setHeader("content-length", body.length);
      response.write(body.subarray(0, 50));
      response.end(body.subarray(50));
    });
    for (const how of ["l", "c"]) {
      for (const size of [99, 100, 101]) {
        const response = await send({ method: "GET", url: `${server.origin}/${how}${size}`, headers: [] });
        if (size <= 100) expect(await response.text(100)).toHaveLength(size);
        else expect(isBodyTooLarge(await rejection(response.text(100)))).toBe(true);
      }
    }
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("unpacks %s, and counts what came out", async (encoding, pack) => {
    const server = await serve(
      (_request, response) =>
        void response.writeHead(200, { "content-encoding": encoding }).end(pack(Buffer.alloc(10_000, "y"))),
    );
    const request: SendRequest = { method: "GET", url: server.url, headers: [] };
    expect(await (await send(request)).text(10_000)).toBe("y".repeat(10_000));
    expect(isBodyTooLarge(await rejection((await send(request)).text(9_999)))).toBe(true);
    let bytes = 0;
    for await (const chunk of (await send(request)).chunks()) bytes += chunk.byteLength;
    expect(bytes).toBe(10_000);
  });

  it("stops when it is cancelled: before the answer, inside the body", async () => {
    let closed = 0;
    const server = await serve((request, response) => {
      response.on("close", () => closed++);
      if (request.url === "/body") response.write("begin");
    });
    let cancel = (_reason: Error): void => {};
    const cancellable = (url: string) =>
      new Promise<SendResponse>((resolve, reject) => {
        cancel = sender({ method: "GET", url, headers: [] }, resolve, reject);
      });
    const waiting = rejection(cancellable(server.url));
    await server.arrived(1);
    cancel(new Error("enough"));
    await waiting;
    await until(() => closed === 1);
    const response = await cancellable(`${server.origin}/body`);
    const reading = rejection(response.text(100));
    cancel(new Error("enough"));
    expect((await reading).message).toBe("enough");
    await until(() => closed === 2);
  });

  it("closes the connection of a stream that its reader leaves", async () => {
    let closed = false;
    const server = await serve((_request, response) => {
      response.on("close", () => {
        closed = true;
      });
      response.write("data: 1\n\n");
    });
    const response = await send({ method: "GET", url: server.url, headers: [] });
    for await (const chunk of response.chunks()) {
      expect(chunk.byteLength).toBeGreaterThan(0);
      break;
    }
    await until(() => closed);
  });

  it("rejects where a header could not be sent", async () => {
    const server = await serve(() => {});
    await rejection(send({ method: "GET", url: server.url, headers: ["x-bad", "a\r\nb: c"] }));
    expect(server.requests).toHaveLength(0);
  });

  it("finds out that TLS is not spoken before anything is sent", async () => {
    const server = await serve(() => {});
    const transport = httpClientTransport(server.url.replace("http:", "https:"), { sender, platform });
    await transport.open(recordingReceiver());
    expect(await rejection(transport.request(call(1)))).toMatchObject({ kind: "connect_failed" });
  });
});

describe("the sender over node:http", () => {
  it("asks for no compression unless told to, and uses the agent it is given", async () => {
    const server = await serve((_request, response) => void response.end());
    const agent = new Agent({ keepAlive: false });
    const request: SendRequest = { method: "GET", url: server.url, headers: [] };
    (await sent(nodeSender(), request)).cancel();
    (await sent(nodeSender({ acceptEncoding: "gzip", agents: { http: agent } }), request)).cancel();
    expect(server.requests.map(({ headers }) => [headers["accept-encoding"], headers.connection])).toEqual([
      ["identity", "keep-alive"],
      ["gzip", "close"],
    ]);
  });

  it("reaches an IPv6 address", async ({ skip }) => {
    const { createServer } = await import("node:http");
    const server = createServer((_request, response) => void response.end("six"));
    const listening = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(0, "::1", () => resolve(true));
    });
    if (!listening) return skip("this machine has no IPv6 loopback");
    const { port } = server.address() as { port: number };
    const response = await sent(nodeSender(), { method: "GET", url: `http://[::1]:${port}/`, headers: [] });
    expect(await response.text(10)).toBe("six");
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
