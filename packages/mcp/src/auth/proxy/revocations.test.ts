import { describe, expect, it } from "vitest";
import { fakeTime } from "../../../test/http/fake-time.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import { Revocations } from "./proxy-grants.js";

const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

/** A memory whose subscriptions fail while `isDown`, and whose messages are lost while `isCut`. */
function faulty() {
  const memory = createMemoryStorage({ clock: { now: () => 0 } });
  const state = { isDown: false, isCut: false, gap: () => {} };
  const storage: Storage = {
    ...memory,
    pubsub: {
      publish: (topic, message) => (state.isCut ? undefined : memory.pubsub.publish(topic, message)),
      async subscribe(topic, deliver, onGap) {
        if (state.isDown) throw new Error("out of order");
        state.gap = onGap ?? state.gap;
        return memory.pubsub.subscribe(topic, deliver);
      },
    },
  };
  return { state, storage };
}

describe("a deletion", () => {
  it("reaches the watchers of every node, once, and only those of its key", async () => {
    const storage = createMemoryStorage({ clock: { now: () => 0 } });
    const { platform } = fakeTime();
    const [near, far] = [new Revocations(storage, platform), new Revocations(storage, platform)];
    for (const key of ["a", "b"]) await storage.kv.set(key, "");
    const seen: string[] = [];
    near.watch("a", () => seen.push("near a"));
    far.watch("a", () => seen.push("far a"));
    far.watch("b", () => seen.push("far b"));
    far.watch("a", () => seen.push("gone"))();
    await turns();
    await storage.kv.delete("a");
    await near.publish("a");
    await near.publish("a");
    await turns();
    expect(seen.sort()).toEqual(["far a", "near a"]);
  });

  it("before the watch is noticed by it", async () => {
    const seen: string[] = [];
    new Revocations(createMemoryStorage({ clock: { now: () => 0 } }), fakeTime().platform).watch("gone", () =>
      seen.push("gone"),
    );
    await expect.poll(() => seen).toEqual(["gone"]);
  });

  it("during an interruption is noticed when messages arrive again", async () => {
    const { state, storage } = faulty();
    const node = new Revocations(storage, fakeTime().platform);
    await storage.kv.set("a", "");
    const seen: string[] = [];
    node.watch("a", () => seen.push("a"));
    await turns();
    state.isCut = true;
    await storage.kv.delete("a");
    await new Revocations(storage, fakeTime().platform).publish("a");
    await turns();
    expect(seen).toEqual([]);
    state.gap();
    await expect.poll(() => seen).toEqual(["a"]);
  });

  it("is noticed after a subscription that failed at first, which is reported once", async () => {
    const { state, storage } = faulty();
    const time = fakeTime();
    const node = new Revocations(storage, time.platform);
    await storage.kv.set("a", "");
    const seen: string[] = [];
    state.isDown = true;
    node.watch("a", () => seen.push("a"));
    for (let tries = 0; tries < 5; tries++) {
      await turns();
      time.advance(5_000);
    }
    await turns();
    expect(time.warnings).toEqual([
      expect.stringContaining("revoked logins could not be read from the storage: out of order"),
    ]);
    state.isDown = false;
    await storage.kv.delete("a");
    time.advance(5_000);
    await expect.poll(() => seen).toEqual(["a"]);
    expect(time.pending()).toBe(0);
  });
});
