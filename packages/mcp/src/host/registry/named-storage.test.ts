import { describe, expect, it } from "vitest";
import { storageContract } from "../../storage/contract/storage-contract.js";
import { createMemoryStorage } from "../../storage/memory.js";
import { namedStorage } from "./bound-endpoint.js";

function clockAt(start: number) {
  let time = start;
  const advance = (ms: number) => {
    time += ms;
  };
  return { now: () => time, advance };
}

describe("the storage of a name", () => {
  for (const item of storageContract()) {
    it(`keeps the contract: ${item.name}`, async () => {
      const clock = clockAt(1000);
      const whole = createMemoryStorage({ clock });
      await item.run(namedStorage(whole, "a"), clock, namedStorage(whole, "A"));
    });
  }

  it("has nothing of another name", async () => {
    const whole = createMemoryStorage({ clock: clockAt(1000) });
    const [a, b] = [namedStorage(whole, "a"), namedStorage(whole, "b")];
    const heard: string[] = [];
    const limits = { maxEntries: 10, maxBytes: 1000, maxAgeMs: 1000 };
    await b.pubsub.subscribe("topic", (message) => void heard.push(message));
    await a.pubsub.publish("topic", "to a");
    await a.kv.set("key", "of a");
    await a.log.append("stream", "of a", limits);
    expect(await b.kv.get("key")).toBeUndefined();
    expect(await b.kv.delete("key")).toBe(false);
    expect(await b.log.touch("stream", 1000)).toBe(false);
    expect(heard).toEqual([]);
    expect(await a.kv.get("key")).toMatchObject({ value: "of a" });
  });
});
