import { afterEach, describe, expect, it, vi } from "vitest";
import { Commands } from "./commands.js";
import type { RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";

afterEach(() => {
  vi.useRealTimers();
});

describe("a connection that was cut without a word", () => {
  it("is given up in time, also when nobody calls any more", async () => {
    vi.useFakeTimers();
    // Safe: commands use no other part of a connection.
    const node = { sendCommand: () => new Promise(() => {}) } as unknown as RedisNode;
    const given: string[] = [];
    const route: Route = {
      place: "somewhere",
      lastError: undefined,
      downMs: 0,
      isSharded: false,
      use: (_key, send) => send(node),
      addressOf: () => "somewhere",
      subscriber: async () => node,
      reset: (_node, { message }) => given.push(message),
      close() {},
    };
    const commands = new Commands(route, { timeoutMs: 300, maxPending: 10 });
    const call = commands.send("k", ["GET", "k"]).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(300);
    expect(await call).toContain("did not answer within 300 ms");
    expect(given).toEqual([]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(given).toEqual([expect.stringMatching(/^no answer for 5\d\d\d ms$/)]);
  });
});
