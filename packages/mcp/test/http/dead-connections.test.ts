import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { connectionName, DeadConnections } from "../../src/node/http/bind.js";
import { fakeTime } from "./fake-time.js";
import { waitUntil } from "./watched.js";

const open: (Socket | Server)[] = [];

afterEach(() => {
  for (const one of open.splice(0)) "destroy" in one ? one.destroy() : one.close();
});

/** The server's end of a connection to an address of this machine; undefined where it has no such address. */
async function connectionTo(host: string, listensOn = host): Promise<Socket | undefined> {
  const server = createServer().listen(0, listensOn);
  open.push(server);
  try {
    await once(server, "listening");
  } catch {
    return undefined;
  }
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a server on TCP has a port");
  const accepted = once(server, "connection");
  open.push(connect(address.port, host));
  const [socket] = (await accepted) as [Socket];
  open.push(socket);
  return socket;
}

/** A line of the kernel's table. */
function line(name: string, retransmissions: number, probes = 0): string {
  const count = retransmissions.toString(16).padStart(8, "0");
  return `   7: ${name} 01 00000005:00000000 01:00000A3C ${count}     0        ${probes} 432864 2 0000000000000000 20 4 30 10 -1`;
}

describe("a connection without acknowledgements", () => {
  it.each([
    ["retransmissions", (name: string, count: number) => line(name, count)],
    ["probes", (name: string, count: number) => line(name, 0, count)],
  ])("is closed after seven %s, and others are not", async (_what, lineOf) => {
    const [dead, alive] = [await connectionTo("127.0.0.1"), await connectionTo("127.0.0.1")];
    if (dead === undefined || alive === undefined) throw new Error("this machine has a loopback address");
    const time = fakeTime();
    const reads: string[] = [];
    let count = 6;
    const watch = new DeadConnections(time.platform, new Set([dead, alive]), async (table) => {
      reads.push(table);
      if (table.endsWith("tcp6")) throw new Error("there is no such file");
      return `  sl  local_address rem_address\n${lineOf(connectionName(dead), count)}\n${lineOf(connectionName(alive), 0)}\n`;
    });
    watch.watch();
    watch.watch();
    time.advance(15_000);
    await waitUntil(() => time.pending() === 1);
    expect([dead.destroyed, reads]).toEqual([false, ["/proc/net/tcp", "/proc/net/tcp6"]]);
    count = 7;
    time.advance(15_000);
    await waitUntil(() => dead.destroyed);
    expect(alive.destroyed).toBe(false);
    watch.close();
    await waitUntil(() => time.pending() === 0);
  });

  it("is not looked for where the system has no tables, or there are no connections", async () => {
    const socket = await connectionTo("127.0.0.1");
    if (socket === undefined) throw new Error("this machine has a loopback address");
    const time = fakeTime();
    let reads = 0;
    const missing = async () => {
      reads += 1;
      throw new Error("there is no such file");
    };
    for (const sockets of [new Set([socket]), new Set<Socket>()]) {
      new DeadConnections(time.platform, sockets, missing).watch();
      time.advance(15_000);
      await new Promise((resolve) => setImmediate(resolve));
      expect(time.pending()).toBe(0);
    }
    expect(reads).toBe(2);
  });

  it.skipIf(!existsSync("/proc/net/tcp")).each([
    ["127.0.0.1", "127.0.0.1", "tcp"],
    ["::1", "::1", "tcp6"],
    ["127.0.0.1", "::", "tcp6"],
  ])("has the name that the kernel gives it: %s at a server on %s", async (host, listensOn, table) => {
    const socket = await connectionTo(host, listensOn);
    // Machines without IPv6 have no connection of it.
    if (socket !== undefined)
      expect(readFileSync(`/proc/net/${table}`, "latin1")).toContain(`: ${connectionName(socket)} 01 `);
  });
});
