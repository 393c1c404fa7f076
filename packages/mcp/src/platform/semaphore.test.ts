import { describe, expect, it } from "vitest";
import { KeyCounts } from "./key-counts.js";
import { Semaphore } from "./semaphore.js";

describe("Semaphore", () => {
  it("lets as many run as there are places, the others in order", async () => {
    const places = new Semaphore(2);
    const started: string[] = [];
    expect([places.tryEnter(), places.tryEnter(), places.tryEnter()]).toEqual([true, true, false]);
    const waiting = ["a", "b"].map((name) => places.wait().then(() => started.push(name)));
    expect([places.running, places.waiting]).toEqual([2, 2]);
    places.leave();
    await waiting[0];
    expect(started).toEqual(["a"]);
    places.leave();
    await waiting[1];
    expect([places.running, places.waiting]).toEqual([2, 0]);
  });

  it("gives one key its share only, and starts waiters of other keys before it", async () => {
    const places = new Semaphore(3, 2);
    expect(["a", "a", "a", "b"].map((key) => places.tryEnter(key))).toEqual([true, true, false, true]);
    const started: string[] = [];
    void places.wait(undefined, "a").then(() => started.push("a"));
    const second = places.wait(undefined, "b").then(() => started.push("b"));
    expect([places.waitingOf("a"), places.waitingOf("b")]).toEqual([1, 1]);
    places.leave("b");
    await second;
    expect(started).toEqual(["b"]);
  });

  it("rejects with the reason of a signal, before or while it waits, and frees the place in the queue", async () => {
    const places = new Semaphore(1);
    places.tryEnter();
    const controller = new AbortController();
    const waiting = places.wait(controller.signal, "a");
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
    await expect(places.wait(controller.signal)).rejects.toBe("enough");
    expect([places.waiting, places.waitingOf("a")]).toEqual([0, 0]);
    places.leave();
    expect(places.running).toBe(0);
  });

  it("does not count what waits in any case", () => {
    const places = new Semaphore(0);
    void places.wait(undefined, "a", true);
    expect([places.waiting, places.waitingOf("a")]).toEqual([0, 0]);
  });
});

describe("KeyCounts", () => {
  it("counts by key, up to a limit, and forgets keys with nothing", () => {
    const counts = new KeyCounts();
    expect([counts.tryAdd("a", 2), counts.tryAdd("a", 2), counts.tryAdd("a", 2)]).toEqual([true, true, false]);
    expect([counts.change("a", -1), counts.change("a", -5), counts.change("b", 3)]).toEqual([1, 0, 3]);
    expect([counts.size, counts.get("a"), [...counts]]).toEqual([1, 0, [["b", 3]]]);
    counts.delete("b");
    expect(counts.size).toBe(0);
  });
});
