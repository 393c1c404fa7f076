import { describe, expect, it } from "vitest";
import { fakeTime } from "../../../../test/http/fake-time.js";
import type { HttpSession } from "./session.js";
import { IdleSweep } from "./session-room.js";

const IDLE_MS = 30 * 60_000;

function setUp() {
  const time = fakeTime();
  const sessions = new Map<string, HttpSession>();
  const idle: string[] = [];
  const sweep = new IdleSweep(time.platform, sessions, IDLE_MS, (session) => {
    idle.push(session.id);
    sessions.delete(session.id);
  });
  const add = (id: string, busy = false) => {
    // The sweep reads no more of a session than this.
    const session = { id, busy, activeAt: time.platform.now() } as HttpSession;
    sessions.set(id, session);
    if (time.platform.now() > sweep.armedUntil) sweep.arm(time.platform.now());
    return session;
  };
  return { time, idle, sweep, add };
}

describe("the sweep", () => {
  it("finds idle sessions, at most a sixteenth late, by one timer, and stops when none is left", () => {
    const { time, idle, add } = setUp();
    add("a");
    const active = add("b");
    expect(time.pending()).toBe(1);
    time.advance(IDLE_MS / 2);
    active.activeAt = time.platform.now();
    time.advance(IDLE_MS / 2 - 1);
    expect(idle).toEqual([]);
    time.advance(1 + IDLE_MS / 16);
    expect(idle).toEqual(["a"]);
    time.advance(IDLE_MS);
    expect(idle).toEqual(["a", "b"]);
    time.advance(IDLE_MS / 16);
    expect(time.pending()).toBe(0);
    add("c");
    expect(time.pending()).toBe(1);
  });

  it("gives way by the session that is idle longest, for five minutes at least, and never by a busy one", () => {
    const { time, sweep, add } = setUp();
    add("busy", true);
    time.advance(1000);
    const oldest = add("oldest");
    time.advance(5 * 60_000 - 1);
    add("young");
    expect(sweep.replaceable()).toBeUndefined();
    time.advance(1);
    expect(sweep.replaceable()).toBe(oldest);
  });

  it("does not look through all sessions again for each that asks", () => {
    const { time, sweep, add } = setUp();
    const busy = add("busy", true) as { busy: boolean };
    time.advance(6 * 60_000);
    expect(sweep.replaceable()).toBeUndefined();
    busy.busy = false;
    expect(sweep.replaceable()).toBeUndefined();
    time.advance(1000);
    expect(sweep.replaceable()).toBe(busy);
  });
});
