import { afterEach, describe, expect, it } from "vitest";
import { socketTransport } from "../../src/node/socket/socket-client.js";
import { serveSocket } from "../../src/node/socket/socket-server.js";
import { nodeWebSocketTransport } from "../../src/node/socket/websocket-client.js";
import { serveWebSocket } from "../../src/node/socket/websocket-server.js";
import type { Platform } from "../../src/platform/platform.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { serveChannel } from "../../src/transport/channel/server.js";
import { fakeTime } from "../http/fake-time.js";
import { endpoint } from "./fixtures/endpoint.js";
import { RawClient } from "./raw-client.js";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const EXPIRES_MS = 400;
const expiring = (platform: Platform) => ({
  authenticate: () => ({ key: "k", expiresAt: platform.now() + EXPIRES_MS }),
  platform,
});

const places = {
  TCP: async (platform: Platform) => {
    const handle = await serveSocket(endpoint, { port: 0 }, expiring(platform));
    return { handle, transport: socketTransport(handle.address) };
  },
  WebSocket: async (platform: Platform) => {
    const handle = await serveWebSocket(endpoint, { port: 0, ...expiring(platform) });
    return { handle, transport: nodeWebSocketTransport(handle.url) };
  },
};

describe("a connection whose credentials expire", () => {
  it.each(Object.entries(places))("is closed over %s, however busy it is", async (_name, place) => {
    const time = fakeTime();
    const { handle, transport } = await place(time.platform);
    ends.push(() => handle.close());
    const client = await new RawClient(transport).open();
    ends.push(() => transport.close());
    await client.ask("ping");
    time.advance(EXPIRES_MS - 1);
    await client.ask("ping");
    expect(client.endings).toEqual([]);
    time.advance(1);
    await expect.poll(() => client.endings.length).toBe(1);
  });

  it("is closed at that moment on any channel, and not before", async () => {
    const time = fakeTime();
    const [near, far] = channelPair();
    const principal = { key: "k", expiresAt: time.platform.now() + 3_600_000 };
    const served = serveChannel(endpoint, near, { principal, platform: time.platform });
    let closed = false;
    const hearing = {
      message() {},
      fault() {},
      closed() {
        closed = true;
      },
    };
    far.open(hearing);
    time.advance(3_599_999);
    await Promise.resolve();
    expect(closed).toBe(false);
    time.advance(1);
    await served.closed;
    await expect.poll(() => closed).toBe(true);
    expect(time.pending()).toBe(0);
  });
});
