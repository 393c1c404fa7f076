import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.js";
import { McpError } from "../../src/protocol/error.js";
import { Server } from "../../src/server/server.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { fakeTime } from "./fake-time.js";
import { EventReader, LegacyClient } from "./legacy-client.js";

const HOUR = 3_600_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const time = fakeTime();
  let release = () => {};
  const server = new Server({ name: "t", version: "1" }, { platform: time.platform })
    .tool("hello", {}, () => "hello")
    .tool("slow", {}, () => new Promise<string>((resolve) => (release = () => resolve("late"))))
    .tool("hurried", { timeoutMs: 10_000 }, () => new Promise<string>(() => {}));
  const handler = fetchHandler(server, { platform: time.platform });
  const session = () => new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
  return { time, server, session, release: () => release() };
}

describe.each([
  ["back", -HOUR],
  ["forward", HOUR],
])("when the wall clock jumps %s by an hour", (_way, jump) => {
  it("sessions live on, and end after their idle time", async () => {
    const { time, session } = setUp();
    const client = session();
    await client.open();
    time.jump(jump);
    expect((await client.call("hello")).status).toBe(200);
    time.advance(29 * 60_000);
    expect((await client.call("hello")).status).toBe(200);
    time.advance(30 * 60_000 + 1);
    expect((await client.call("hello")).status).toBe(404);
  });

  it("open streams go on with their comments", async () => {
    const { time, session } = setUp();
    const client = session();
    await client.open();
    const reader = new EventReader(await client.get());
    const reading = reader.rest();
    time.advance(1_000);
    time.jump(jump);
    for (let step = 0; step < 12; step++) {
      time.advance(10_000);
      await turn();
    }
    expect(reader.raw.match(/^:/gm)?.length).toBeGreaterThanOrEqual(6);
    await reader.cancel();
    await reading;
  });

  it("a slow answer becomes a stream at its time", async () => {
    const { time, session, release } = setUp();
    const client = session();
    await client.open();
    time.jump(jump);
    const replying = client.call("slow");
    await turn();
    time.advance(1_100);
    const response = await replying;
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    release();
    expect(await response.text()).toContain("late");
  });

  it("calls in flight keep their deadlines, at the client and at the server", async () => {
    const { time, server, release } = setUp();
    const client = await connect(server, { platform: time.platform, timeouts: { idleMs: 60_000 } });
    const slow = client.callTool("slow", {});
    const hurried = client.callTool("hurried", {});
    await turn();
    time.jump(jump);
    time.advance(9_000);
    release();
    expect(await slow).toMatchObject({ content: [{ text: "late" }] });
    time.advance(1_001);
    expect(await hurried).toMatchObject({ isError: true });
    const lost = client.callTool("slow", {}).catch((error: unknown) => error);
    await turn();
    time.jump(jump);
    time.advance(60_001);
    const error = await lost;
    expect(McpError.is(error) && error.kind).toBe("timeout");
    await client.close();
  });

  it("a memory storage on a platform's clock keeps its entries for their time", () => {
    const time = fakeTime();
    const { kv } = createMemoryStorage({ clock: time.platform });
    kv.set("k", "v", { ttlMs: 10_000 });
    time.jump(jump);
    expect(kv.get("k")?.value).toBe("v");
    time.advance(10_001);
    expect(kv.get("k")).toBeUndefined();
  });
});
