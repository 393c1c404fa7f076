import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { connect, Server } from "@parley/mcp";
import { serveSocket, socketTransport } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { liveBytes } from "./cost.js";

const MEBIBYTE = 1024 * 1024;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const input = { type: "object", properties: { text: { type: "string" } } } as const;

async function serving() {
  const server = new Server({ name: "flow", version: "1" })
    .tool("answer", {}, () => "x".repeat(1000))
    .tool("length", { input }, ({ text = "" }) => String(text.length));
  const handle = await serveSocket(server, { port: 0 });
  ends.push(() => handle.close());
  if (!("port" in handle.address)) throw new Error("the server has no port");
  return handle.address.port;
}

/** Sends up to 64 MiB of requests, which ask for ten times as much, without reading an answer, until nothing is taken any more. */
async function flood(port: number) {
  const socket = connectSocket(port, "127.0.0.1");
  ends.push(() => socket.destroy());
  await once(socket, "connect");
  socket.pause();
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "p", version: "1" } };
  socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: hello })}\n`);
  socket.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const call = { name: "answer", arguments: {} };
  let offered = 0;
  let sent = 1;
  for (let stuck = false; !stuck && offered < 64 * MEBIBYTE; ) {
    let batch = "";
    while (batch.length < 64 * 1024) {
      batch += `${JSON.stringify({ jsonrpc: "2.0", id: sent++, method: "tools/call", params: call })}\n`;
    }
    offered += batch.length;
    if (socket.write(batch)) continue;
    stuck = await once(socket, "drain", { signal: AbortSignal.timeout(2000) }).then(
      () => false,
      () => true,
    );
  }
  return {
    offered,
    /** What was taken is answered once the answers are read. */
    async answered() {
      let answers = 0;
      socket.on("data", (chunk: Buffer) => {
        for (const byte of chunk) if (byte === 10) answers++;
      });
      socket.resume();
      await expect.poll(() => answers, { timeout: 60_000 }).toBe(sent);
    },
    destroy: () => void socket.destroy(),
  };
}

describe("flow", () => {
  it("a producer ten times as fast as the reader of the answers is held back, and memory does not grow with it", async () => {
    const port = await serving();
    // The first time is for the compiler of the runtime.
    (await flood(port)).destroy();
    const before = liveBytes();
    const { offered, answered, destroy } = await flood(port);
    const growth = liveBytes() - before;
    console.log(
      `held back after ${(offered / MEBIBYTE).toFixed(1)} MiB of requests, memory +${(growth / MEBIBYTE).toFixed(1)} MiB`,
    );
    expect(offered).toBeLessThan(24 * MEBIBYTE);
    // Answers to all that was offered would take ten times as much as it.
    expect(growth).toBeLessThan(32 * MEBIBYTE);
    await answered();
    destroy();
  });

  it("a message of 10 MB delays a ping on another connection by no more than reading one such message", async () => {
    const port = await serving();
    const quick = await connect(socketTransport({ port }), { revisions: ["2025-11-25"] });
    const big = await connect(socketTransport({ port }), { revisions: ["2025-11-25"] });
    ends.push(
      () => quick.close(),
      () => big.close(),
    );
    const text = "0123456789".repeat(1_000_000);
    let read = 0;
    let pings = 0;
    let most = 0;
    const pinging = (async () => {
      while (read < 8) {
        const before = read;
        await quick.ping();
        pings += 1;
        most = Math.max(most, read - before);
      }
    })();
    for (let round = 0; round < 8; round++) {
      expect(await big.call("length", { text })).toBe("10000000");
      read += 1;
    }
    await pinging;
    console.log(`${pings} pings beside 8 messages; most messages that one of them waited for: ${most}`);
    expect(most).toBeLessThanOrEqual(1);
    expect(pings).toBeGreaterThan(8);
  });
});
