import { describe, expect, it } from "vitest";
import { virtualTime } from "../../test/http-client/virtual-time.js";
import { atMost, pause } from "./pause.js";

describe("pause", () => {
  it("resolves after its time, and leaves no listener", async () => {
    const time = virtualTime();
    const began = time.now();
    const paused = pause(time.platform, 10, new AbortController().signal);
    time.next();
    await paused;
    expect(time.now() - began).toBe(10);
  });

  it("resolves as soon as the signal aborts, and leaves no timer", async () => {
    const time = virtualTime();
    const controller = new AbortController();
    const paused = pause(time.platform, 1e9, controller.signal);
    expect(time.pending()).toBe(1);
    controller.abort();
    await paused;
    await pause(time.platform, 1e9, controller.signal);
    expect(time.pending()).toBe(0);
  });
});

describe("atMost", () => {
  it("resolves with the work, and leaves no timer", async () => {
    const time = virtualTime();
    await atMost(time.platform, 1e9, Promise.resolve());
    expect(time.pending()).toBe(0);
  });

  it("resolves after its time, and without a timer if that is infinite", async () => {
    const time = virtualTime();
    const began = time.now();
    const waiting = atMost(time.platform, 10, new Promise(() => {}));
    time.next();
    await waiting;
    await atMost(time.platform, Number.POSITIVE_INFINITY, Promise.resolve());
    expect(time.now() - began).toBe(10);
  });
});
