import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { SessionStreamServices } from "../../src/transport/http/session/streams/session-streams.js";
import { eventId, parseEventId } from "../../src/transport/http/session/streams/stream.js";
import {
  decodeEntry,
  lastEntry,
  messageEntry,
  openingEntry,
} from "../../src/transport/http/session/streams/stream-log.js";
import { connect, home, Recorder, settled, streamOf, streamsOf } from "./recorded-stream.js";

type Step = { kind: "say"; count: number } | { kind: "cut" } | { kind: "attach" } | { kind: "wait" };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("say" as const), count: fc.integer({ min: 1, max: 100 }) }),
    fc.record({ kind: fc.constant("cut" as const) }),
    fc.record({ kind: fc.constant("attach" as const) }),
    fc.record({ kind: fc.constant("wait" as const) }),
  ),
  { maxLength: 30 },
);

describe.each([
  [false, true],
  [false, false],
  [true, true],
  [true, false],
])("a logged stream (late store: %s, sole writer: %s)", (late, soleWriter) => {
  it("gives a client that comes back exactly what it has not seen, in order", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (program) => {
        const stream = streamOf(home(late), soleWriter);
        const seen: string[] = [];
        let said = 0;
        let position = 0;
        let current: Recorder | undefined;
        const cut = () => {
          if (current === undefined) return;
          seen.push(...current.data);
          const last = current.ids.at(-1);
          if (last !== undefined) position = parseEventId(last)?.after ?? -1;
          const recorder = current;
          recorder.open = false;
          recorder.onLost?.();
          current = undefined;
        };
        for (const step of program) {
          if (step.kind === "say") for (let n = 0; n < step.count; n++) stream.message(String(said++));
          else if (step.kind === "wait") await settled();
          else if (step.kind === "cut") cut();
          else if (current === undefined) {
            current = new Recorder();
            stream.attach(current.asConnection(), position);
          }
        }
        cut();
        await settled();
        const rest = new Recorder();
        stream.attach(rest.asConnection(), position);
        stream.finish("end");
        for (let turn = 0; turn < 200 && rest.open; turn++) await settled();
        expect([...seen, ...rest.data]).toEqual([...Array.from({ length: said }, (_, n) => String(n)), "end"]);
        expect(rest.ids.at(-1)).toMatch(/\.last$/);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a logged stream", () => {
  it("closes the connection instead of hiding a gap", () => {
    const memory = createMemoryStorage({ clock: { now: () => 0 } });
    const small: SessionStreamServices = {
      ...home(false),
      log: memory.log,
      limits: { maxEntries: 2, maxBytes: 1e9, maxAgeMs: 1e9 },
    };
    const stream = streamOf(small, false);
    for (let n = 0; n < 5; n++) stream.message(String(n));
    const recorder = new Recorder();
    stream.attach(recorder.asConnection(), 1);
    expect(recorder.open).toBe(false);
    expect(recorder.frames).toEqual([]);
  });

  it("ends without a word when its request was cancelled", () => {
    const stream = streamOf(home(false), true);
    const recorder = new Recorder();
    stream.attach(recorder.asConnection(), 0);
    stream.prime();
    stream.finish(undefined);
    expect(recorder.open).toBe(false);
    expect(recorder.data).toEqual([""]);
  });
});

describe("an event id", () => {
  it("is read back as it was made", () => {
    for (const last of [true, false]) {
      expect(parseEventId(eventId("ab-_9", 17, last))).toEqual({ stream: "ab-_9", after: 17, last });
    }
  });

  it.each([
    "",
    "x",
    ".1",
    "x.",
    "x.01",
    "x.-1",
    "x.1.",
    "x.1.end",
    "x.1.last ",
    "x.1.1-twelve-chars",
    "x.99999999999999999",
    "x y.1",
    "x.1\u0000",
  ])("is nothing else: %j", (text) => {
    expect(parseEventId(text)).toBeUndefined();
  });
});

describe("the streams of a session", () => {
  it("keep the newest ended ones up to their limit, and none that a client reads", () => {
    const dropped: string[] = [];
    const host: SessionStreamServices = {
      ...home(false),
      maxEndedStreams: 1,
      drop: (_streams, { id }) => dropped.push(id),
    };
    const streams = streamsOf(host);
    const [a, b, c] = ["a", "b", "c"].map((id) => streams.open(id, true));
    if (a === undefined || b === undefined || c === undefined) throw new Error("there is no stream");
    for (const stream of [a, b]) connect(stream).onLost?.();
    a.finish("1");
    expect(dropped).toEqual([]);
    const reader = connect(b, 0);
    c.finish("2");
    expect(dropped).toEqual(["a"]);
    expect(streams.get("a")).toBeUndefined();
    b.finish("3");
    expect([reader.open, dropped]).toEqual([false, ["a", "c"]]);
  });
});

describe("an entry", () => {
  it.each([
    openingEntry(true, [1, "a"]),
    openingEntry(false, []),
    openingEntry(true),
    messageEntry('{"a":1}'),
    messageEntry('{"a":1}', "twelve-chars"),
    lastEntry("{}"),
    lastEntry(undefined),
  ])("is read back as it was stored: $stored", (entry) => {
    expect(decodeEntry(entry.stored)).toEqual({ ...entry, afterGap: false });
    expect(decodeEntry(`g${entry.stored}`)).toEqual({ ...entry, afterGap: true });
  });
});
