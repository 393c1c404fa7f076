import { describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { Server } from "../../src/server/server.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { openSocket, sendRaw } from "./raw-http.js";
import { ADAPTERS } from "./serving.js";
import { gate, waitUntil, watch } from "./watched.js";

function patient() {
  const { passed, open } = gate();
  const watched = watch(
    new Server({ name: "t", version: "1" })
      .tool("silent", {}, async () => {
        await passed;
        return "late";
      })
      .tool("streams", {}, async (_args, ctx) => {
        ctx.progress(1);
        await passed;
        return "late";
      }),
  );
  return { ...watched, open };
}

function call(name: string): { headers: Record<string, string>; body: string } {
  const { headers, body } = modern("tools/call", { name, arguments: {} });
  const message = JSON.parse(body);
  message.params._meta = { ...message.params._meta, progressToken: 1 };
  return { headers, body: JSON.stringify(message) };
}

describe.each(ADAPTERS)("a client that leaves, through %s,", (name, start) => {
  it("cancels its request in the newest revision, whether a stream had begun or not (HTTP26-25)", async () => {
    for (const tool of ["silent", "streams"]) {
      const { endpoint, exchanges, open } = patient();
      const served = await start(endpoint);
      const leaving = new AbortController();
      const request = new Request(served.url, { method: "POST", ...call(tool), signal: leaving.signal });
      const answer = served.fetch(request).then((response) => response.text());
      answer.catch(() => {});
      await waitUntil(() => exchanges.length === 1);
      expect(exchanges[0]?.signal.aborted).toBe(false);
      if (tool === "streams") await new Promise((resolve) => setImmediate(resolve));
      leaving.abort();
      await waitUntil(() => exchanges[0]?.signal.aborted === true);
      open();
    }
    expect(name).toBeTruthy();
  });
});

describe("a socket that is cut", () => {
  it("cancels within the turn in which the server hears of it", async () => {
    const { endpoint, exchanges, open } = patient();
    const handle = await serveHttp(endpoint, { port: 0 });
    const { headers, body } = call("silent");
    const head = Object.entries({ ...headers, host: "localhost", "content-length": String(body.length) });
    const socket = openSocket(
      handle.port,
      `POST /mcp HTTP/1.1\r\n${head.map(([k, v]) => `${k}: ${v}`).join("\r\n")}\r\n\r\n${body}`,
    );
    await waitUntil(() => exchanges.length === 1);
    socket.destroy();
    await waitUntil(() => exchanges[0]?.signal.aborted === true);
    open();
    await handle.close();
  });
});

describe.each(ADAPTERS)("drain through %s", (_name, start) => {
  it("lets running requests end, refuses new ones, and ends what nobody else would", async () => {
    const { endpoint, exchanges, open } = patient();
    const served = await start(endpoint);
    const running = served.fetch(new Request(served.url, { method: "POST", ...call("silent") }));
    await waitUntil(() => exchanges.length === 1);
    const drained = served.drain(5000);
    open();
    const response = await running;
    expect(await response.text()).toContain("late");
    await drained;
  });

  it("gives up after its time", async () => {
    const { endpoint, exchanges, open } = patient();
    const served = await start(endpoint);
    const running = served
      .fetch(new Request(served.url, { method: "POST", ...call("silent") }))
      .then((response) => response.text());
    running.catch(() => {});
    await waitUntil(() => exchanges.length === 1);
    await served.drain(20);
    expect(exchanges[0]?.signal.aborted).toBe(true);
    open();
  });
});

describe("serveHttp", () => {
  it("serves both loopback families where present, and reports health", async () => {
    const handle = await serveHttp(patient().endpoint, { port: 0 });
    for (const host of ["127.0.0.1", "[::1]"]) {
      const health = await fetch(`http://${host}:${handle.port}/health`).catch(() => undefined);
      if (host === "127.0.0.1") expect(await health?.json()).toEqual({ status: "ok" });
      else if (health === undefined) console.log("this machine has no IPv6 loopback; only IPv4 was tested");
      else expect(health.status).toBe(200);
    }
    expect((await fetch(`http://127.0.0.1:${handle.port}/other`)).status).toBe(404);
    const reply = await sendRaw(handle.port, "GET /health HTTP/1.1\r\nhost: balancer.internal\r\n\r\n");
    expect(reply.status).toBe(200);
    await handle.close();
    await handle.closed;
    await handle.close();
    await expect(fetch(`http://127.0.0.1:${handle.port}/health`)).rejects.toThrow();
  });

  it("asks the hook whether it is well", async () => {
    let answer: () => boolean | Promise<boolean> = () => true;
    const handle = await serveHttp(patient().endpoint, { port: 0, healthPath: "/up", isHealthy: () => answer() });
    const status = async () => (await fetch(`http://127.0.0.1:${handle.port}/up`)).status;
    expect(await status()).toBe(200);
    answer = async () => false;
    expect(await status()).toBe(503);
    answer = () => {
      throw new Error("broken");
    };
    expect(await status()).toBe(503);
    await handle.close();
  });

  it("says which port is taken, and how to get another", async () => {
    const first = await serveHttp(patient().endpoint, { port: 0 });
    const failure = await serveHttp(patient().endpoint, { port: first.port }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "connect_failed", fix: expect.stringContaining("port") });
    await first.close();
  });

  it("answers a body that is too long so that its sender can read the answer", async () => {
    const handle = await serveHttp(patient().endpoint, { port: 0, limits: { maxMessageBytes: 1000 } });
    const { headers } = call("silent");
    for (const size of [1001, 200_000, 3_000_000]) {
      const response = await fetch(handle.url, { method: "POST", headers, body: "x".repeat(size) });
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ error: { code: -32600 } });
    }
    await handle.close();
  });

  it("cuts off requests that never arrive", async () => {
    const handle = await serveHttp(patient().endpoint, { port: 0, headersTimeoutMs: 300, requestTimeoutMs: 600 });
    const slowHead = sendRaw(handle.port, "POST /mcp HTTP/1.1\r\nhost: localhost\r\nx-a:");
    const slowBody = sendRaw(
      handle.port,
      "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    );
    expect((await slowHead).status).toBe(408);
    expect((await slowBody).status).toBe(408);
    await handle.close();
  });

  it("ends streams and sessions when it closes", async () => {
    const { endpoint, peers } = patient();
    const handle = await serveHttp(endpoint, { port: 0 });
    const client = new LegacyClient(handle.url);
    await client.open();
    const reader = new EventReader(await client.get());
    await reader.next();
    expect(peers.size).toBe(1);
    await handle.close();
    await reader.rest().catch(() => []);
    expect(peers.size).toBe(0);
  });
});
