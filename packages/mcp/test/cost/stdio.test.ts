import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { socketTransport } from "../../src/node/socket/socket-client.js";
import { serveSocket } from "../../src/node/socket/socket-server.js";
import { stdioTransport } from "../../src/node/stdio/stdio-client.js";
import { until, type VirtualTime, virtualTime } from "../http-client/virtual-time.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { endpoint } from "../stdio/fixtures/endpoint.js";
import { eventually } from "../stdio/processes.js";
import { RawClient } from "../stdio/raw-client.js";
import { liveBytes } from "./cost.js";

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

/** A client of a foreign server, on a clock that stands still. */
async function start(faults = "") {
  const time = virtualTime();
  const transport = stdioTransport({ command: process.execPath, args: [foreign, faults] }, time.platform);
  const client = await new RawClient(transport).open();
  ends.push(() => destroyed(client, time));
  return { client, time, pid: Number(await client.ask("pid")) };
}

/** Ends the process, however many timers that takes. */
async function destroyed({ transport }: RawClient, time: VirtualTime): Promise<void> {
  let closed = false;
  void transport.close().then(() => {
    closed = true;
  });
  await until(() => {
    time.next();
    return closed;
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
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
  /** The bytes that the process holds. */
  const liveBytes = async () => {
    const printed = once(child.stderr, "data");
    child.kill("SIGUSR2");
    const [text] = (await printed) as [Buffer];
    return Number(/^live (\d+)/m.exec(text.toString())?.[1]);
  };
  return { child, ask, end, liveBytes };
}

describe("a client of a process", () => {
  it("learns within 50 ms that a server that lives has closed its stdout", async () => {
    const { client, time, pid } = await start();
    const began = time.now();
    let rejected = false;
    client.ask("close-stdout").catch(() => {
      rejected = true;
    });
    await until(() => {
      time.next(began + 50 - time.now());
      return rejected;
    });
    expect(isAlive(pid)).toBe(true);
  });

  it("closes a good server without waiting for any time (STDIO-10)", async () => {
    const { client, pid } = await start();
    await client.transport.close();
    expect(isAlive(pid)).toBe(false);
  });

  it("rejects at once, and is rid within 4 s of a server that ignores EOF and SIGTERM", async () => {
    const { client, time, pid } = await start("ignore-eof,ignore-term");
    const began = time.now();
    const pending = client.ask("silence").catch(() => "rejected");
    let closed = false;
    void client.transport.close().then(() => {
      closed = true;
    });
    expect(await pending).toBe("rejected");
    expect([time.now(), isAlive(pid)]).toEqual([began, true]);
    await until(() => {
      time.next(began + 4_000 - time.now());
      return closed;
    });
    // Killed; on this clock the transport has not waited for the system to say so.
    await until(() => !isAlive(pid));
  });

  it("holds little of 10 MB on stderr", async () => {
    const before = liveBytes();
    const { client } = await start("stderr-flood");
    await client.ask("echo");
    expect(liveBytes() - before).toBeLessThan(2 * MEBIBYTE);
  });
});

describe("a server as a process", () => {
  // With `long-drain` a request that has not ended holds the process for an hour.
  it("is gone after EOF, although its program holds a timer", async () => {
    const server = serve("interval", "long-drain");
    await server.ask(1, "echo");
    expect(await server.end()).toEqual([0, null]);
  });

  it("is not held by what only the client could end: a question", async () => {
    const server = serve("long-drain");
    server.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 9, method: "ask", params: {} })}\n`);
    await server.ask(1, "echo");
    expect(await server.end()).toEqual([0, null]);
  });

  it("holds at most its limit of a line of 64 MiB in 1 KiB chunks", async () => {
    const server = serve();
    await server.ask(1, "echo");
    const before = await server.liveBytes();
    const chunk = Buffer.alloc(1024, "x");
    for (let sent = 1; sent <= 64 * 1024; sent++) {
      if (!server.child.stdin.write(chunk)) await once(server.child.stdin, "drain");
      if (sent % (8 * 1024) === 0) expect((await server.liveBytes()) - before).toBeLessThan(34 * MEBIBYTE);
    }
    server.child.stdin.write("\n");
    await server.ask(2, "echo");
  });
});

it("a server on a socket closes at once although a request never ends", async () => {
  const handle = await serveSocket(endpoint, { port: 0 }, { platform: virtualTime().platform });
  const client = await new RawClient(socketTransport(handle.address)).open();
  ends.push(() => client.transport.close());
  void client.ask("sleep", { ms: 600_000 }).catch(() => {});
  await client.ask("echo");
  await handle.close();
});
