import { describe, expect, it } from "vitest";
import { EventReader } from "../http/legacy-client.js";
import { severalNodes, WITH_PROGRESS } from "./several-nodes.js";

describe.each(["down", "hangs", "full"] as const)("while the storage is out of order (%s)", (way) => {
  it("a client that reads its stream gets its answer at once, in order and once", async () => {
    const { client, use, held, close } = severalNodes(1);
    const { storage } = use(0);
    await client.open();
    const reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
    expect(await reader.message()).toMatchObject({ params: { progress: 1 } });
    storage.way = way;
    storage.timeoutMs = Number.POSITIVE_INFINITY;
    held.open();
    expect(await reader.message()).toMatchObject({ params: { progress: 2 } });
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(await reader.rest()).toEqual([]);
    storage.way = "open";
    await close();
  });

  it("a session that the node knows is served, and one that it does not know is told to come back", async () => {
    const { client, use, close } = severalNodes(2);
    use(0);
    await client.open();
    for (const index of [0, 1]) use(index).storage.way = way;
    use(0).storage.timeoutMs = Number.POSITIVE_INFINITY;
    expect(await (await client.call("hello")).json()).toMatchObject({ result: { content: [{ text: "hello" }] } });
    if (way !== "full") {
      use(1);
      const refused = await client.call("hello");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await refused.json()).toMatchObject({ id: 2, error: { data: { reason: "storage_unavailable" } } });
    }
    await close();
  });
});

describe("what could not be stored in time", () => {
  it.each([0, 1])(
    "is stored later, also if nothing of its stream was stored before (resumed at node %i)",
    async (at) => {
      const { client, use, held, close } = severalNodes(2);
      const { storage } = use(0);
      await client.open();
      storage.way = "down";
      const reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
      // The position before the first event, which needs no storage.
      const start = await reader.next();
      expect(start).toMatchObject({ id: expect.stringMatching(/\.0$/), data: "" });
      const first = await reader.message();
      expect(first).toMatchObject({ params: { progress: 1 } });
      expect(first.eventId).toBeUndefined();
      await reader.cancel();
      storage.way = "open";
      use(at);
      const response = await client.get({ "last-event-id": start?.id ?? "" });
      expect(response.status).toBe(200);
      const resumed = new EventReader(response);
      held.open();
      // An event without data gives a place to resume from, and no message.
      const events = (await resumed.rest()).flatMap(({ data }) => (data === "" ? [] : JSON.parse(data)));
      expect(events).toMatchObject([
        { params: { progress: 1 } },
        { params: { progress: 2 } },
        { result: { content: [{ text: "done" }] } },
      ]);
      await close();
    },
  );

  it("is stored later, for a client that resumes, without a gap or a repetition", async () => {
    const { client, use, held, close } = severalNodes(2);
    const { storage } = use(0);
    await client.open();
    const reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
    const { eventId = "" } = await reader.message();
    await reader.cancel();
    storage.way = "down";
    held.open();
    await new Promise((resolve) => setTimeout(resolve, 50));
    storage.way = "open";
    use(1);
    const resumed = new EventReader(await client.get({ "last-event-id": eventId }));
    const events = (await resumed.rest()).map(({ data }) => JSON.parse(data));
    expect(events).toMatchObject([{ params: { progress: 2 } }, { result: { content: [{ text: "done" }] } }]);
    await close();
  });
});
