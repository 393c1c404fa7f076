import { describe, expect, it } from "vitest";
import { EventReader } from "../http/legacy-client.js";
import { severalNodes, WITH_PROGRESS } from "./several-nodes.js";

const LOST = { id: 1, error: { code: -32603, data: { reason: "process_lost" } } };

/** A call that one node runs, and whose client has left it. */
async function leftCall(nodeLostMs: number) {
  const parts = severalNodes(3, { times: { nodeLostMs } });
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
    const { client, use, dead, eventId, held, close } = await leftCall(400);
    dead.storage.way = "hangs";
    dead.storage.disconnect();
    use(1);
    const first = new EventReader(await client.get({ "last-event-id": eventId }));
    expect((await first.rest()).map(({ data }) => JSON.parse(data))).toMatchObject([LOST]);
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
    // Longer than a test may take.
    const { client, use, dead, eventId, close } = await leftCall(600_000);
    await dead.handler.close();
    use(1);
    const reader = new EventReader(await client.get({ "last-event-id": eventId }));
    expect((await reader.rest()).map(({ data }) => JSON.parse(data))).toMatchObject([LOST]);
    await close();
  });

  it("goes on while the node lives", async () => {
    const { client, use, dead: alive, eventId, held, close } = await leftCall(2000);
    use(1);
    const reader = new EventReader(await client.get({ "last-event-id": eventId }));
    // A node renews its lease four times before it ends.
    const renewals = () => alive.storage.calls.filter((call) => /^set .*\/node\//.test(call)).length;
    const before = renewals();
    await expect.poll(renewals).toBeGreaterThan(before + 4);
    held.open();
    const events = (await reader.rest()).map(({ data }) => JSON.parse(data));
    expect(events).toMatchObject([{ params: { progress: 2 } }, { result: { content: [{ text: "done" }] } }]);
    await close();
  });
});
