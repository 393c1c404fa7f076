import { describe, expect, it, vi } from "vitest";
import { platform as node } from "../node/platform.js";
import { platform as web } from "./default.js";

const utf8 = (text: string) => new TextEncoder().encode(text);
const plain = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : new Uint8Array(bytes));

describe.each([
  ["web standards", web, node],
  ["Node", node, web],
])("the platform of %s", (_name, platform, other) => {
  it("warns in text that no terminal obeys, and that forges no line", () => {
    const said: unknown[] = [];
    vi.spyOn(console, "warn").mockImplementation((text: unknown) => void said.push(text));
    vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(text) > 0);
    platform.warn("no r://\u001b[2J\nINFO admin logged in");
    vi.restoreAllMocks();
    expect(said.map((text) => String(text).trimEnd())).toEqual(["no r://\\u001b[2J\n  INFO admin logged in"]);
  });

  it("opens what it sealed and what the other platform sealed", async () => {
    for (const text of ["", "x", "state ".repeat(500)]) {
      const mine = await platform.cipher("a secret", "state").seal(utf8(text), utf8("bound"));
      expect(mine.length).toBe(12 + utf8(text).length + 16);
      expect(plain(await platform.cipher("a secret", "state").open(mine, utf8("bound")))).toEqual(utf8(text));
      expect(plain(await other.cipher("a secret", "state").open(mine, utf8("bound")))).toEqual(utf8(text));
    }
  });

  it("seals the same text differently each time", async () => {
    const cipher = platform.cipher("a secret", "state");
    const [a, b] = [await cipher.seal(utf8("x"), utf8("")), await cipher.seal(utf8("x"), utf8(""))];
    expect(Buffer.from(a).equals(b)).toBe(false);
  });

  it("opens nothing with another secret, purpose or binding, nor after any change", async () => {
    const sealed = await platform.cipher("a secret", "state").seal(utf8("hello"), utf8("bound"));
    const open = (secret: string, purpose: string, bound: string, bytes = sealed) =>
      platform.cipher(secret, purpose).open(bytes, utf8(bound));
    expect(await open("another", "state", "bound")).toBeUndefined();
    expect(await open("a secret", "cursor", "bound")).toBeUndefined();
    expect(await open("a secret", "state", "other")).toBeUndefined();
    for (let index = 0; index < sealed.length; index++) {
      const changed = new Uint8Array(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(await open("a secret", "state", "bound", changed)).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(await open("a secret", "state", "bound", sealed.subarray(0, length))).toBeUndefined();
    }
  });

  it("digests as the other platform does", () => {
    expect(plain(platform.sha256(utf8("abc")))).toEqual(plain(other.sha256(utf8("abc"))));
  });

  it("gives fresh random bytes of the length asked for", () => {
    const [a, b] = [platform.randomBytes(32), platform.randomBytes(32)];
    expect(a.length).toBe(32);
    expect(Buffer.from(a).equals(b)).toBe(false);
  });

  it("runs what was deferred after the microtasks, in order", async () => {
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      platform.defer(() => seen.push("first"));
      platform.defer(() => {
        seen.push("second");
        resolve();
      });
      queueMicrotask(() => seen.push("microtask"));
    });
    expect(seen).toEqual(["microtask", "first", "second"]);
  });

  it("fires a timer once, and never after it was cancelled", async () => {
    const cancelled = vi.fn();
    const timer = platform.timer(1, cancelled, true);
    timer.cancel();
    await new Promise<void>((resolve) => platform.timer(10, resolve, true));
    timer.cancel();
    expect(cancelled).not.toHaveBeenCalled();
  });

  it("waits as long as it is told, also longer than the runtime can count, and for ever", async () => {
    vi.useFakeTimers();
    try {
      const fired: string[] = [];
      const month = 30 * 24 * 3_600_000;
      platform.timer(month, () => fired.push("a month"));
      platform.timer(Number.POSITIVE_INFINITY, () => fired.push("never"));
      const cancelled = platform.timer(2 * month, () => fired.push("cancelled"));
      await vi.advanceTimersByTimeAsync(month - 1);
      expect(fired).toEqual([]);
      cancelled.cancel();
      await vi.advanceTimersByTimeAsync(1);
      expect(fired).toEqual(["a month"]);
      await vi.advanceTimersByTimeAsync(4 * month);
      expect(fired).toEqual(["a month"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("has a clock that does not follow the wall clock", () => {
    const started = Date.now();
    const wall = vi.spyOn(Date, "now");
    const before = platform.monotonic();
    for (const jump of [-3_600_000, 3_600_000]) {
      wall.mockReturnValue(started + jump);
      const passed = platform.monotonic() - before;
      expect(passed).toBeGreaterThanOrEqual(0);
      expect(passed).toBeLessThan(60_000);
    }
    wall.mockRestore();
  });

  it("asks the global `fetch` of the moment", async () => {
    const fetch = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("replaced"));
    const response = await platform.fetch("http://localhost/");
    expect(await response.text()).toBe("replaced");
    fetch.mockRestore();
  });
});

describe("deferring without setImmediate", () => {
  it("goes by MessageChannel, and by setTimeout where there is none", async () => {
    vi.stubGlobal("setImmediate", undefined);
    await new Promise<void>((resolve) => web.defer(resolve));
    vi.stubGlobal("MessageChannel", undefined);
    await new Promise<void>((resolve) => web.defer(resolve));
    vi.unstubAllGlobals();
  });
});
