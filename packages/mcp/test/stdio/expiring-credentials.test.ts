import { afterEach, describe, expect, it } from "vitest";
import type { Principal } from "../../src/http/authentication.js";
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

type Options = { authenticate: () => Principal; platform?: Platform };

const places = {
  TCP: async (options: Options) => {
    const handle = await serveSocket(endpoint, { port: 0 }, options);
    return { handle, transport: socketTransport(handle.address) };
  },
  WebSocket: async (options: Options) => {
    const handle = await serveWebSocket(endpoint, { port: 0, ...options });
    return { handle, transport: nodeWebSocketTransport(handle.url) };
  },
};

describe("a connection whose credentials expire", () => {
  it.each(Object.entries(places))("is closed over %s, however busy it is", async (_name, place) => {
    const time = fakeTime();
    const { handle, transport } = await place(expiring(time.platform));
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

describe("a connection whose credentials are revoked", () => {
  it.each(Object.entries(places))("is closed over %s, and watches nothing any more", async (_name, place) => {
    const watchers = new Set<() => void>();
    const onRevoked = (revoked: () => void) => {
      watchers.add(revoked);
      return () => watchers.delete(revoked);
    };
    const { handle, transport } = await place({ authenticate: () => ({ key: "k", onRevoked }) });
    ends.push(() => handle.close());
    const client = await new RawClient(transport).open();
    ends.push(() => transport.close());
    await client.ask("ping");
    expect([watchers.size, client.endings]).toEqual([1, []]);
    for (const revoked of watchers) revoked();
    await expect.poll(() => client.endings.length).toBe(1);
    await expect.poll(() => watchers.size).toBe(0);
  });

  it.each<[string, Principal["onRevoked"]]>([
    [
      "are revoked already",
      (revoked) => {
        revoked();
        return () => {};
      },
    ],
    [
      "cannot be watched",
      () => {
        throw new Error("out of order");
      },
    ],
  ])("is closed if they %s", async (_name, onRevoked) => {
    const time = fakeTime();
    const [near] = channelPair();
    const served = serveChannel(endpoint, near, { principal: { key: "k", onRevoked }, platform: time.platform });
    time.advance(0);
    await served.closed;
    expect(time.pending()).toBe(0);
  });

  it("watches nothing after it was closed otherwise", async () => {
    let watched = 0;
    const onRevoked = () => {
      watched++;
      return () => void watched--;
    };
    const served = serveChannel(endpoint, channelPair()[0], { principal: { key: "k", onRevoked } });
    expect(watched).toBe(1);
    await served.close();
    await served.closed;
    expect(watched).toBe(0);
  });

  it.each(["before", "after"])("watches nothing any more if a promise gave the removal %s its end", async (when) => {
    let watched = 1;
    let give: (removal: () => void) => void = () => {};
    const removal = new Promise<() => void>((resolve) => {
      give = resolve;
    });
    // The type forbids a promise.
    const onRevoked = (() => removal) as unknown as Principal["onRevoked"];
    const served = serveChannel(endpoint, channelPair()[0], { principal: { key: "k", onRevoked } });
    if (when === "before") give(() => void watched--);
    await turn();
    await served.close();
    await served.closed;
    if (when === "after") give(() => void watched--);
    await turn();
    expect(watched).toBe(0);
  });

  it("is closed completely if the removal is no function", async () => {
    const time = fakeTime();
    const onRevoked = (() => true) as unknown as Principal["onRevoked"];
    const served = serveChannel(endpoint, channelPair()[0], {
      principal: { key: "k", onRevoked },
      platform: time.platform,
    });
    await served.close();
    await served.closed;
    expect(time.warnings).toEqual([expect.stringContaining("`onRevoked` failed")]);
  });
});

/** One turn of the event loop, in which settled promises are followed. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
