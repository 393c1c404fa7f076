import { describe, expect, it } from "vitest";
import { EventReader } from "../http/legacy-client.js";
import { severalNodes, WITH_PROGRESS } from "./several-nodes.js";

const LOST = { id: 1, error: { code: -32603, data: { reason: "process_lost" } } };

/** A call that one node runs, and whose client has left it. */
async function leftCall() {
  const parts = severalNodes(3);
  const { client, use } = parts;
  const dead = use(0);
  await client.open();
  const reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
  const { eventId = "" } = await reader.message();
  await reader.cancel();
  return { ...parts, dead, eventId };
}

describe("a call of a node that is gone", () => {
  it("ends with an error for whoever resumes it, in bounded time", async () => {
    const { client, use, dead, eventId, held, close } = await leftCall();
    dead.storage.way = "hangs";
    dead.storage.disconnect();
    use(1);
    const began = performance.now();
    const first = new EventReader(await client.get({ "last-event-id": eventId }));
    expect((await first.rest()).map(({ data }) => JSON.parse(data))).toMatchObject([LOST]);
    expect(performance.now() - began).toBeLessThan(5000);
    // The node was only slow: what it says now comes too late.
    dead.storage.way = "open";
    held.open();
    await new Promise((resolve) => setTimeout(resolve, 50));
    use(2);
    const second = new EventReader(await client.get({ "last-event-id": eventId }));
    expect((await second.rest()).map(({ data }) => JSON.parse(data))).toMatchObject([LOST]);
    await close();
  });

  it("ends at once if the node has closed in good order", async () => {
    const { client, use, dead, eventId, close } = await leftCall();
    await dead.handler.close();
    use(1);
    const began = performance.now();
    const reader = new EventReader(await client.get({ "last-event-id": eventId }));
    expect((await reader.rest()).map(({ data }) => JSON.parse(data))).toMatchObject([LOST]);
    expect(performance.now() - began).toBeLessThan(300);
    await close();
  });

  it("goes on while the node lives", async () => {
    const { client, use, eventId, held, close } = await leftCall();
    use(1);
    const reader = new EventReader(await client.get({ "last-event-id": eventId }));
    setTimeout(() => held.open(), 700);
    const events = (await reader.rest()).map(({ data }) => JSON.parse(data));
    expect(events).toMatchObject([{ params: { progress: 2 } }, { result: { content: [{ text: "done" }] } }]);
    await close();
  });
});
