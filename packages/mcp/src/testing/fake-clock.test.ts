import { connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { fakeClock } from "./fake-clock.js";

describe("the fake clock", () => {
  it("runs timers at their time, in their order, and lets what they set off settle in between", async () => {
    const clock = fakeClock(1000);
    const seen: string[] = [];
    const note = (text: string) => seen.push(`${text} ${clock.now()}`);
    clock.platform.timer(20, () => note("later"));
    clock.platform.timer(10, () => {
      note("first");
      void Promise.resolve().then(() => clock.platform.timer(5, () => note("set by the first")));
    });
    clock.platform.timer(10, () => note("second"));
    clock.platform.timer(10, () => note("never")).cancel();
    await clock.advance(15);
    expect(seen).toEqual(["first 1010", "second 1010", "set by the first 1015"]);
    expect(clock.now()).toBe(1015);
    expect(clock.pending).toBe(1);
    expect(await clock.next()).toBe(true);
    expect(await clock.next()).toBe(false);
    expect(seen.at(-1)).toBe("later 1020");
  });

  it("makes the deadlines of a client pass at once", async () => {
    const clock = fakeClock();
    const server = new Server({ name: "silent", version: "1" }).tool("wait", {}, () => new Promise<string>(() => {}));
    const client = await connect(server, { platform: clock.platform });
    const call = client.call("wait", {}, { timeouts: { totalMs: 3_600_000, idleMs: 60_000 } });
    const outcome = expect(call).rejects.toMatchObject({ kind: "timeout", data: { deadline: "idle" } });
    await clock.advance(60_000);
    await outcome;
    await client.close();
  });
});
