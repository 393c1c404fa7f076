import { connect as connectSocket } from "node:net";
import { describe, expect, it } from "vitest";
import { Host } from "../../src/host/host.js";
import { serveSocket } from "../../src/node/socket/socket-server.js";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { LegacyClient } from "../http/legacy-client.js";

const info = { name: "t", version: "1" };
const never = () => new Promise<string>(() => {});
const URL = "http://localhost:3000/mcp";

/** The limit that a refusal names. */
const limitOf = async (response: Response) =>
  ((await response.json()) as { error?: { data?: { limit?: string } } }).error?.data?.limit;

async function opened(handler: (request: Request) => Promise<Response>, token?: string): Promise<LegacyClient> {
  const fetch = (request: Request) => {
    if (token !== undefined) request.headers.set("authorization", `Bearer ${token}`);
    return handler(request);
  };
  const client = new LegacyClient(URL, { fetch });
  await client.open();
  return client;
}

// Limits that no other test goes beyond; docs/limits.md names the test of each.
describe("a limit of HTTP serving", () => {
  it("`maxStreamsPerPrincipal` refuses a further stream of the same principal", async () => {
    const handler = fetchHandler(new Server(info), {
      limits: { maxStreamsPerPrincipal: 2 },
      authenticate: (request) => ({ key: request.header("authorization") ?? "" }),
    });
    const [first, second] = [await opened(handler, "ann"), await opened(handler, "ann")];
    const open = [await first.get(), await second.get()];
    expect(open.map(({ status }) => status)).toEqual([200, 200]);
    const refused = await second.get();
    expect(refused.status).toBe(503);
    expect(await limitOf(refused)).toBe("maxStreamsPerPrincipal");
    expect((await (await opened(handler, "bob")).get()).status).toBe(200);
    await handler.close();
  });

  it("`maxInFlightPerSession` refuses a further request of the same session", async () => {
    const handler = fetchHandler(new Server(info).tool("never", {}, never), { limits: { maxInFlightPerSession: 1 } });
    const client = await opened(handler);
    const waiting = client.call("never", {});
    const refused = await client.call("never", {});
    expect(await limitOf(refused)).toBe("maxInFlightPerSession");
    await handler.close();
    await waiting;
  });
});

it("`maxConnections` of `serveSocket` closes a further connection", async () => {
  const handle = await serveSocket(new Server(info), { port: 0 }, { maxConnections: 1 });
  const port = "port" in handle.address ? handle.address.port : 0;
  const first = connectSocket(port, "127.0.0.1");
  await new Promise((resolve) => first.once("connect", resolve));
  const second = connectSocket(port, "127.0.0.1");
  second.on("error", () => {});
  second.resume();
  await new Promise((resolve) => second.once("close", resolve));
  expect(first.destroyed).toBe(false);
  first.destroy();
  await handle.close();
});

describe("a limit of a host", () => {
  const hung = { makeTransport: () => ({ ...silent(), target: "a server that never answers" }) };

  it("`callMs` ends a call that takes longer", async () => {
    const host = new Host({ servers: { s: { server: new Server(info).tool("never", {}, never), callMs: 30 } } });
    await host.start();
    await expect(host.call("s__never", {})).rejects.toMatchObject({ kind: "timeout" });
    await host.close();
  });

  it("`maxMessageBytes` of a server of a host refuses a longer answer", async () => {
    const program = `process.stdin.once("data", () => process.stdout.write("x".repeat(4096) + "\\n"));`;
    const entry = { command: process.execPath, args: ["-e", program], maxMessageBytes: 1024, startMs: 60_000 };
    const host = new Host({ servers: { s: entry }, startWaitMs: 1 });
    await host.start();
    await expect.poll(() => host.status()["s"]?.lastError?.message).toContain("1024");
    await host.close();
  });

  it("`startMs` ends a start that takes longer, and `startWaitMs` lets `start` return before", async () => {
    const host = new Host({ servers: { s: { server: hung, startMs: 30 } }, startWaitMs: 1 });
    await host.start();
    await expect.poll(() => host.status()["s"]?.lastError?.kind).toBe("timeout");
    await host.close();
  });
});

/** A transport that takes everything and never answers. */
function silent() {
  return {
    kind: "channel" as const,
    target: "",
    open() {},
    request: () => new Promise<unknown>(() => {}),
    notify: () => Promise.resolve(),
    abandon() {},
    close: () => Promise.resolve(),
  };
}
