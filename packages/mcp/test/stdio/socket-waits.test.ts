import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Principal } from "../../src/http/authentication.js";
import { socketTransport } from "../../src/node/socket/socket-client.js";
import { serveSocket } from "../../src/node/socket/socket-server.js";
import { serveWebSocket } from "../../src/node/socket/websocket-server.js";
import { endpoint } from "./fixtures/endpoint.js";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A check of callers that takes until the test lets it go. */
function slowCheck() {
  let admit: (who: Principal) => void = () => {};
  const verdict = new Promise<Principal>((resolve) => {
    admit = resolve;
  });
  let asked: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    asked = resolve;
  });
  return {
    begun,
    admit: () => admit({ key: "ada" }),
    authenticate() {
      asked();
      return verdict;
    },
  };
}

describe("a server that is still finding out who calls", () => {
  it("closes without waiting for that, and serves nobody afterwards (TCP)", async () => {
    const check = slowCheck();
    const handle = await serveSocket(endpoint, { port: 0 }, { authenticate: check.authenticate });
    const socket = connect(handle.address as { port: number; host: string });
    ends.push(() => socket.destroy());
    const ended = once(socket, "close");
    await check.begun;
    await handle.close();
    check.admit();
    await ended;
  });

  it("closes without waiting for that, and serves nobody afterwards (WebSocket)", async () => {
    const check = slowCheck();
    const handle = await serveWebSocket(endpoint, { port: 0, authenticate: check.authenticate });
    const socket = new WebSocket(handle.url, "mcp");
    socket.on("error", () => {});
    ends.push(() => socket.terminate());
    const ended = new Promise((resolve) => socket.once("close", resolve));
    await check.begun;
    await handle.close();
    check.admit();
    await ended;
  });

  it("counts those who wait against the limit of connections (WebSocket)", async () => {
    const check = slowCheck();
    const handle = await serveWebSocket(endpoint, { port: 0, maxConnections: 1, authenticate: check.authenticate });
    ends.push(() => handle.close());
    const first = new WebSocket(handle.url, "mcp");
    first.on("error", () => {});
    ends.push(() => first.terminate());
    await check.begun;
    const second = new WebSocket(handle.url, "mcp");
    ends.push(() => second.terminate());
    const [error] = (await once(second, "error")) as [Error];
    expect(error.message).toContain("503");
    check.admit();
    await once(first, "open");
  });
});

describe("a client that is still connecting", () => {
  it("lets go of its socket when it closes, so that nothing holds the program", async () => {
    // An address whose name nobody resolves: connecting would take as long as the system lets it.
    const address = { port: 1, host: "nowhere.invalid", lookup: () => {} };
    const transport = socketTransport(address);
    const opening = Promise.resolve(
      transport.open({ request: async () => "", notification() {}, fault() {}, closed() {} }),
    ).catch((error: unknown) => error);
    await transport.close();
    expect(await opening).toMatchObject({ kind: "connection_closed" });
  });
});
