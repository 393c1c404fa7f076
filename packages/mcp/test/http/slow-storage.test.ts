import { describe, expect, it } from "vitest";
import type { SessionStreamServices } from "../../src/transport/http/session/streams/session-streams.js";
import { parseEventId } from "../../src/transport/http/session/streams/stream.js";
import { connect, home, settled, streamOf } from "./recorded-stream.js";

/** A storage whose answers a test lets go one by one; `fail` makes the next one an error although the log has the entry. */
function heldStorage(host = home(false)) {
  const held: ((failed: boolean) => void)[] = [];
  const late = new Set<{ overdue(): void }>();
  const failing = new Set<{ retry(): void }>();
  const { log } = host;
  const slow: SessionStreamServices = {
    ...host,
    failed: () => {},
    late: { touch: (item) => void late.add(item), drop: (item) => void late.delete(item) },
    retries: { touch: (item) => void failing.add(item), drop: (item) => void failing.delete(item) },
    log: {
      async append(...args) {
        const id = await log.append(...args);
        const failed = await new Promise<boolean>((resolve) => held.push(resolve));
        if (failed) throw new Error("the storage did not answer");
        return id;
      },
      read: (...args) => log.read(...args),
      touch: (...args) => log.touch(...args),
      drop: (name) => log.drop(name),
    },
  };
  return {
    slow,
    overdue() {
      for (const item of late) item.overdue();
    },
    retry() {
      for (const item of failing) item.retry();
    },
    async answer(count = 1, failed = false) {
      for (let answered = 0; answered < count; answered++) {
        await settled();
        held.shift()?.(failed);
      }
      await settled();
    },
  };
}

const START = "x.0";

describe("a stream whose storage is slow", () => {
  it("sends what waits without an id after the position before the first entry, and the id once it is stored", async () => {
    const { slow, overdue, answer } = heldStorage();
    const stream = streamOf(slow, true);
    const client = connect(stream);
    stream.message("1");
    stream.message("2");
    expect(client.frames).toEqual([]);
    overdue();
    expect(client.ids).toEqual([START, "", ""]);
    expect(client.data).toEqual(["", "1", "2"]);
    await answer(2);
    expect(client.ids).toHaveLength(3);
    await answer();
    // One id for all that was sent without one.
    expect([client.ids.slice(3), client.data.slice(3)]).toEqual([["x.3"], [""]]);
    stream.message("3");
    await answer();
    expect([client.ids.at(-1), client.data.at(-1)]).toEqual(["x.4", "3"]);
  });

  it("sends everything after the id that a client comes back with, while it waits and once it is stored", async () => {
    const { slow, overdue, answer } = heldStorage();
    const stream = streamOf(slow, true);
    const first = connect(stream);
    await answer();
    expect(first.ids).toEqual(["x.1"]);
    for (const text of ["1", "2", "3"]) stream.message(text);
    overdue();
    expect(first.ids.slice(1)).toEqual(["", "", ""]);
    // The log has 1, and its answer is still under way.
    const second = connect(stream, 1);
    expect(first.open).toBe(false);
    expect([second.ids, second.data]).toEqual([
      ["x.2", "", ""],
      ["1", "2", "3"],
    ]);
    await answer(3);
    expect([second.ids.at(-1), second.data.at(-1)]).toEqual(["x.4", ""]);
    const third = connect(stream, 2);
    expect([third.ids, third.data]).toEqual([
      ["x.3", "x.4"],
      ["2", "3"],
    ]);
  });

  it("sends nothing twice on one connection, whoever reads the log meanwhile", async () => {
    for (const soleWriter of [true, false]) {
      const { slow, overdue, answer } = heldStorage();
      const stream = streamOf(slow, soleWriter);
      const client = connect(stream);
      for (const text of ["1", "2", "3"]) stream.message(text);
      overdue();
      for (let turn = 0; turn < 4; turn++) {
        stream.follow();
        await answer();
        stream.follow();
      }
      expect(client.data.filter((data) => data !== "")).toEqual(["1", "2", "3"]);
      expect(client.ids.at(-1)).toBe("x.4");
      stream.finish("end");
      await answer();
      expect([client.ids.at(-1), client.data.at(-1), client.open]).toEqual(["x.5.last", "end", false]);
    }
  });

  it("sends the messages of another node in between, and its own ones once", async () => {
    const host = home(false);
    const { slow, overdue, answer } = heldStorage(host);
    const stream = streamOf(slow, false);
    const client = connect(stream, 0);
    stream.message("mine 1");
    stream.message("mine 2");
    overdue();
    const other = streamOf(host, false, "another-node");
    other.message("theirs");
    stream.follow();
    await answer(2);
    expect(client.data.filter((data) => data !== "")).toEqual(["mine 1", "mine 2", "theirs"]);
    expect(client.ids.at(-1)).toBe("x.3");
  });

  it("ends a paused connection only when its client has an id for all that it got", async () => {
    const { slow, overdue, answer } = heldStorage();
    const stream = streamOf(slow, true);
    const client = connect(stream);
    await answer();
    stream.message("1");
    stream.pause(5);
    overdue();
    expect([client.open, client.data]).toEqual([true, ["", "1"]]);
    await answer();
    expect(client.open).toBe(false);
    expect(client.ids.filter((id) => id !== "").at(-1)).toBe("x.2");
    expect(client.frames.at(-1)).toBe("retry: 5\n\n");
  });
});

describe("a stream whose storage fails", () => {
  it("stores an entry once, whether or not it was stored before the failure", async () => {
    const { slow, answer, retry } = heldStorage();
    const stream = streamOf(slow, true);
    const client = connect(stream);
    stream.message("1");
    await answer(1, true);
    expect(client.data).toEqual(["", "1"]);
    retry();
    await answer(2);
    const again = connect(stream, 0);
    expect([again.ids, again.data]).toEqual([
      ["x.1", "x.2"],
      ["", "1"],
    ]);
  });

  it("goes on for a client that comes back with the position before the first entry", async () => {
    const { slow, overdue, answer } = heldStorage();
    const stream = streamOf(slow, true);
    const first = connect(stream);
    stream.message("1");
    overdue();
    first.open = false;
    first.onLost?.();
    expect(stream.startKnown).toBe(true);
    const second = connect(stream, parseEventId(START)?.after);
    stream.finish("2");
    await answer(4);
    expect(second.data.filter((data) => data !== "")).toEqual(["1", "2"]);
    expect(second.open).toBe(false);
  });
});
