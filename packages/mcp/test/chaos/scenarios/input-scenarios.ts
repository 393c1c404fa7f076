import { spawn } from "node:child_process";
import { connect as connectSocket } from "node:net";
import { connect, Server } from "@parley/mcp";
import { serveHttp, serveSocket, socketTransport } from "@parley/mcp/node";
import { memoryStorage } from "@parley/mcp/storage";
import { type Lane, scaled } from "../../soak/lane.js";
import { waitFor } from "../../soak/wait-for.js";
import { Outcomes } from "./outcomes.js";
import { echoServer } from "./programs.js";

const PATIENCE_MS = 60_000;

/** Floods a socket with requests and reads no answer. */
export const messageFlood: Lane = {
  name: "message-flood",
  what: "A client floods a socket with requests and reads no answer, beside a client that calls",
  async run({ scale }) {
    const outcomes = new Outcomes();
    const requests = scaled(200_000, scale);
    const handle = await serveSocket(echoServer(), { port: 0 }, { maxQueuedMessages: 1_000 });
    const port = Number(new URL(handle.url).port);
    const good = await connect(socketTransport({ port: port }));
    const flood = connectSocket(port, "127.0.0.1");
    let ended = false;
    flood.on("error", () => {});
    flood.on("close", () => {
      ended = true;
    });
    try {
      flood.pause();
      outcomes.fault();
      for (let at = 0; at < requests && !ended; at++) {
        const isTaken = flood.write(`{"jsonrpc":"2.0","id":${at},"method":"tools/list","params":{}}\n`);
        if (!isTaken) await new Promise((resolve) => setTimeout(resolve, 1));
        if (at % 1_000 === 0) await outcomes.call(() => good.call("echo", { n: at }), String(at));
      }
      flood.destroy();
      outcomes.noticed();
      await outcomes.call(() => good.call("echo", { n: 1 }), "1");
      outcomes.recovered();
    } finally {
      flood.destroy();
      await good.close();
      await handle.close();
    }
    return { size: { requests }, ...outcomes.measures([]) };
  },
};

const GARBAGE = [
  "",
  "{",
  "null",
  "[]",
  "42",
  '"text"',
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"1.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","id":{},"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"method":5}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
  `${"[".repeat(10_000)}`,
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"__proto__":{"polluted":true}}}',
  "\u0000\u0001\ufffd",
] as const;

/** Sends bodies that are no valid messages, over HTTP. */
export const invalidPayload: Lane = {
  name: "invalid-payload",
  what: "Bodies that are not valid messages, over HTTP",
  async run({ scale }) {
    const outcomes = new Outcomes();
    const rounds = scaled(50, scale);
    const handle = await serveHttp(echoServer(), { port: 0 });
    const client = await connect(handle.url);
    try {
      for (let round = 0; round < rounds; round++) {
        outcomes.fault();
        for (const body of GARBAGE) {
          const response = await fetch(handle.url, {
            method: "POST",
            headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
            body,
          });
          const { status } = response;
          await response.text();
          outcomes.expect(
            status >= 400 && status < 500,
            `${JSON.stringify(body.slice(0, 40))} was answered with ${status}`,
          );
        }
        outcomes.noticed();
        await outcomes.call(() => client.call("echo", { n: round }), String(round));
        outcomes.recovered();
      }
      outcomes.expect(!("polluted" in {}), "a prototype was changed");
    } finally {
      await client.close();
      await handle.close();
    }
    return { size: { bodies: rounds * GARBAGE.length }, ...outcomes.measures([]) };
  },
};

const MEBIBYTE = 2 ** 20;

/** Sends a body and a line of 100 MB. */
export const largePayload: Lane = {
  name: "large-payload",
  what: "A body of 100 MB over HTTP and a line of 100 MB over stdio",
  async run(settings) {
    const outcomes = new Outcomes();
    const megabytes = scaled(100, settings.scale) + 32;
    const handle = await serveHttp(echoServer(), { port: 0 });
    const client = await connect(handle.url);
    try {
      outcomes.fault();
      const before = process.memoryUsage().rss;
      const status = await postChunks(handle.url, megabytes);
      outcomes.noticed();
      outcomes.expect(status === 413 || status === 0, `the body was answered with ${status}`);
      const grown = (process.memoryUsage().rss - before) / MEBIBYTE;
      outcomes.expect(grown < 256, `the process grew by ${Math.round(grown)} MiB`);
      await outcomes.call(() => client.call("echo", { n: 1 }), "1");
      const file = await settings.bundle(new URL("./programs.ts", import.meta.url));
      outcomes.expect(await answersAfterLongLine(file, megabytes), "the program did not answer after the long line");
      outcomes.recovered();
    } finally {
      await client.close();
      await handle.close();
    }
    return { size: { megabytes }, ...outcomes.measures([]) };
  },
};

/** Posts chunk by chunk; 0 when the connection is closed before an answer. */
async function postChunks(url: string, megabytes: number): Promise<number> {
  const chunk = new Uint8Array(MEBIBYTE).fill(32);
  let left = megabytes;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(chunk);
      else controller.close();
    },
  });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  try {
    const response = await fetch(url, { method: "POST", headers, body, duplex: "half" } as RequestInit);
    await response.text();
    return response.status;
  } catch {
    return 0;
  }
}

/** Writes one very long line to a program and then a request; true if that is answered. */
async function answersAfterLongLine(file: string, megabytes: number): Promise<boolean> {
  const child = spawn(process.execPath, [file, "serve"], { stdio: ["pipe", "pipe", "ignore"] });
  let answers = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    answers += text;
  });
  child.stdin.on("error", () => {});
  try {
    const chunk = " ".repeat(MEBIBYTE);
    for (let at = 0; at < megabytes; at++) {
      if (!child.stdin.write(chunk)) await new Promise((resolve) => child.stdin.once("drain", resolve));
    }
    child.stdin.write(`x\n{"jsonrpc":"2.0","id":"after","method":"ping"}\n`);
    return await waitFor(() => answers.includes('"after"'), PATIENCE_MS);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Fills the storage of sessions, then makes room. */
export const storageFull: Lane = {
  name: "storage-full",
  what: "The storage of sessions takes nothing more, then has room again",
  async run({ scale }) {
    const outcomes = new Outcomes();
    const rounds = scaled(20, scale);
    const storage = memoryStorage({ limits: { maxKeys: 50 } });
    const server = new Server({ name: "full", version: "1.0.0" }, { storage }).tool(
      "echo",
      { input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const },
      ({ n }) => String(n),
    );
    const handle = await serveHttp(server, { port: 0 });
    const stateless = await connect(handle.url, { revisions: ["2026-07-28"] });
    try {
      for (let round = 0; round < rounds; round++) {
        let keys = 0;
        outcomes.fault();
        try {
          for (; keys < 1_000; keys++) await storage.kv.set(`fill:${keys}`, "x", { ttlMs: 600_000 });
        } catch {
          // The storage is full.
        }
        const attempt = async () => {
          const client = await connect(handle.url, { revisions: ["2025-11-25"] });
          await client.close();
          return "connected";
        };
        outcomes.expect(!(await outcomes.call(attempt, "connected")), "a session was opened in a full storage");
        await outcomes.call(() => stateless.call("echo", { n: round }), String(round));
        for (; keys >= 0; keys--) await storage.kv.delete(`fill:${keys}`);
        outcomes.expect(await outcomes.call(attempt, "connected"), "no session was opened after there was room");
        outcomes.recovered();
      }
    } finally {
      await stateless.close();
      await handle.close();
    }
    return { size: { rounds }, ...outcomes.measures(["transport_error", "limit_exceeded", "connect_failed"]) };
  },
};
