import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { serveChannel } from "../../src/transport/channel/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import type { Endpoint } from "../../src/transport/transport.js";
import { LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { gate } from "./watched.js";

const METHOD = "com.example/feed";

/** A server with an extension whose one request lasts until somebody ends it. */
function endless(): { endpoint: Endpoint; begun: Promise<void> } {
  const row = { method: METHOD, kind: "request", sender: "client", first: "2024-11-05", deadlineExempt: true } as const;
  const extension = { id: METHOD, settings: {}, methods: [row] };
  const inner = new Server({ name: "t", version: "1" }, { extensions: [extension] }).endpoint();
  const { passed, open } = gate();
  const endpoint: Endpoint = {
    accept: (message, http) => inner.accept(message, http),
    request(accepted, exchange) {
      if (accepted.message.method !== METHOD) return inner.request(accepted, exchange);
      open();
      return new Promise((resolve) => {
        const text = JSON.stringify({ jsonrpc: "2.0", id: exchange.id, result: { ended: true } });
        exchange.signal.addEventListener("abort", () => resolve({ text }), { once: true });
      });
    },
    notification: (message, peer) => inner.notification(message, peer),
    opened: (peer) => inner.opened(peer),
    closed: (peer) => inner.closed(peer),
  };
  return { endpoint, begun: passed };
}

/** Longer than a test may take. */
const GRACE_MS = 600_000;

describe("a request of an extension that lasts until it is ended", () => {
  it("does not hold up the drain of a channel", async () => {
    const { endpoint, begun } = endless();
    const [mine, theirs] = channelPair();
    const served = serveChannel(endpoint, theirs);
    mine.open({ message: () => {}, closed: () => {}, fault: () => {} });
    mine.send(modern(METHOD).body);
    await begun;
    await expect(served.drain(GRACE_MS)).resolves.toBeUndefined();
  });

  it("does not hold up the drain of HTTP without a session", async () => {
    const { endpoint, begun } = endless();
    const handler = fetchHandler(endpoint);
    const sent = handler(new Request("http://localhost/mcp", { method: "POST", ...modern(METHOD) }));
    await begun;
    await handler.drain(GRACE_MS);
    expect(await (await sent).text()).toContain("ended");
  });

  it("does not hold up the drain of HTTP with a session", async () => {
    const { endpoint, begun } = endless();
    const handler = fetchHandler(endpoint);
    const client = new LegacyClient("http://localhost/mcp", { fetch: handler });
    await client.open();
    const sent = client.post({ jsonrpc: "2.0", id: 2, method: METHOD });
    await begun;
    await handler.drain(GRACE_MS);
    expect(await (await sent).text()).toContain("ended");
  });
});
