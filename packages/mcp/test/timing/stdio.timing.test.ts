import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { socketTransport } from "../../src/node/socket/socket-client.js";
import { serveSocket } from "../../src/node/socket/socket-server.js";
import { stdioTransport } from "../../src/node/stdio/stdio-client.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { endpoint } from "../stdio/fixtures/endpoint.js";
import { eventually } from "../stdio/processes.js";
import { RawClient } from "../stdio/raw-client.js";

const MEBIBYTE = 1024 * 1024;
const foreign = fileURLToPath(new URL("../stdio/fixtures/foreign-server.mjs", import.meta.url));
const ends: (() => unknown)[] = [];
let ours = "";

beforeAll(async () => {
  ours = await bundleFixture(new URL("../stdio/fixtures/parley-server.ts", import.meta.url));
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(faults = ""): Promise<RawClient> {
  const client = new RawClient(stdioTransport({ command: process.execPath, args: [foreign, faults] }));
  ends.push(() => client.transport.close());
  return client.open();
}

/** A server of ours as a process, with the answers that it has written. */
function serve(...words: string[]) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [ours, ...words]);
  ends.push(() => child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const answers = () =>
    output
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { id?: number; result?: unknown });
  const ask = async (id: number, method: string, params: object = {}) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await eventually(() => answers().some((answer) => answer.id === id));
    return answers().find((answer) => answer.id === id)?.result;
  };
  /** Ends its stdin, and waits until it is gone. */
  const end = () => {
    const exited = once(child, "exit");
    child.stdin.end();
    return exited;
  };
  return { child, ask, end };
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

describe("a client of a process", () => {
  it("learns within 250 ms that a server that lives has closed its stdout", async () => {
    const client = await start();
    await client.ask("pid");
    expect(await elapsed(() => client.ask("close-stdout").catch(() => {}))).toBeLessThan(250);
  });

  it("closes a good server within a second (STDIO-10)", async () => {
    const client = await start();
    await client.ask("pid");
    expect(await elapsed(() => client.transport.close())).toBeLessThan(1000);
  });

  it("rejects within 500 ms, and is rid within 4 s of a server that ignores EOF and SIGTERM", async () => {
    const client = await start("ignore-eof,ignore-term");
    await client.ask("pid");
    const pending = client.ask("silence").catch(() => {});
    const closing = elapsed(() => client.transport.close());
    expect(await elapsed(() => pending)).toBeLessThan(500);
    expect(await closing).toBeLessThan(4000);
  });

  it("does not grow by 10 MB on stderr", async () => {
    const before = process.memoryUsage().rss;
    const client = await start("stderr-flood");
    await client.ask("echo");
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MEBIBYTE);
  });
});

describe("a server as a process", () => {
  it("is gone within a second of EOF, although its program holds a timer", async () => {
    const server = serve("interval");
    await server.ask(1, "echo");
    expect(await elapsed(server.end)).toBeLessThan(1000);
  });

  it("is not held for a second by what only the client could end: a question", async () => {
    const server = serve();
    server.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 9, method: "ask", params: {} })}\n`);
    await server.ask(1, "echo");
    expect(await elapsed(server.end)).toBeLessThan(1000);
  });

  it("grows by at most 64 MB for a line of 64 MiB in 1 KiB chunks", async () => {
    const server = serve();
    const before = Number(await server.ask(1, "memory"));
    const chunk = Buffer.alloc(1024, "x");
    for (let i = 0; i < 64 * 1024; i++) {
      if (!server.child.stdin.write(chunk)) await once(server.child.stdin, "drain");
    }
    server.child.stdin.write("\n");
    expect(Number(await server.ask(2, "memory")) - before).toBeLessThan(64 * MEBIBYTE);
  });
});

it("a server on a socket closes within two seconds although a request never ends", async () => {
  const handle = await serveSocket(endpoint, { port: 0 });
  const client = await new RawClient(socketTransport(handle.address)).open();
  ends.push(() => client.transport.close());
  void client.ask("sleep", { ms: 600_000 }).catch(() => {});
  await client.ask("echo");
  expect(await elapsed(() => handle.close())).toBeLessThan(2000);
});
