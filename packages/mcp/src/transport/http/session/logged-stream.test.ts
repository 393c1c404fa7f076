import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { delayedStorage } from "../../../storage/delayed-storage.js";
import { createMemoryStorage } from "../../../storage/memory.js";
import type { SseConnection } from "../server/sse-connection.js";
import { eventId, parseEventId } from "./event-id.js";
import { LoggedStream, type StreamStorage } from "./logged-stream.js";

/** A connection that records what a client would have read. */
class Recorder {
  readonly frames: string[] = [];
  open = true;
  onLost: (() => void) | undefined;

  write(frame: string): void {
    if (this.open) this.frames.push(frame);
  }

  end(): void {
    this.open = false;
  }

  /** The stream uses these members only. */
  asConnection(): SseConnection {
    return this as unknown as SseConnection;
  }

  get ids(): string[] {
    return this.frames.map((frame) => /^id: (.*)$/m.exec(frame)?.[1] ?? "");
  }

  get data(): string[] {
    return this.frames.map((frame) => /^data: ?(.*)$/m.exec(frame)?.[1] ?? "");
  }
}

function home(late: boolean): StreamStorage {
  const memory = createMemoryStorage({ clock: { now: () => 0 } });
  return {
    log: (late ? delayedStorage(memory) : memory).log,
    limits: { maxEntries: 10_000, maxBytes: 1e9, maxAgeMs: 1e9 },
    logName: (stream) => `log/${stream}`,
    primes: true,
    alone: true,
    node: "twelve-chars",
    late: { touch() {}, drop() {} },
    retries: { touch() {}, drop() {} },
    monotonic: () => 0,
    storing: () => {},
    checkRoom: () => {},
    keep: () => {},
    leads: () => true,
    lost: () => {},
    hint: () => {},
    ended: () => {},
    released: () => {},
    failed: (error) => {
      throw error;
    },
  };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 2));

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
        const stream = new LoggedStream(home(late), "x", soleWriter);
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
          if (step.kind === "say") for (let n = 0; n < step.count; n++) stream.say(String(said++));
          else if (step.kind === "wait") await settled();
          else if (step.kind === "cut") cut();
          else if (current === undefined) {
            current = new Recorder();
            stream.attach(current.asConnection(), { after: position, ahead: 0, node: "" });
          }
        }
        cut();
        await settled();
        const rest = new Recorder();
        stream.attach(rest.asConnection(), { after: position, ahead: 0, node: "" });
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
    const small: StreamStorage = {
      ...home(false),
      log: memory.log,
      limits: { maxEntries: 2, maxBytes: 1e9, maxAgeMs: 1e9 },
    };
    const stream = new LoggedStream(small, "x", false);
    for (let n = 0; n < 5; n++) stream.say(String(n));
    const recorder = new Recorder();
    stream.attach(recorder.asConnection(), { after: 1, ahead: 0, node: "" });
    expect(recorder.open).toBe(false);
    expect(recorder.frames).toEqual([]);
  });

  it("ends without a word when its request was cancelled", () => {
    const stream = new LoggedStream(home(false), "x", true);
    const recorder = new Recorder();
    stream.attach(recorder.asConnection(), { after: 0, ahead: 0, node: "" });
    stream.prime();
    stream.finish(undefined);
    expect(recorder.open).toBe(false);
    expect(recorder.data).toEqual([""]);
  });
});

describe("an event id", () => {
  it("is read back as it was made", () => {
    for (const last of [true, false]) {
      expect(parseEventId(eventId("ab-_9", 17, last))).toMatchObject({ stream: "ab-_9", after: 17, last, ahead: 0 });
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
    "x.99999999999999999",
    "x y.1",
    "x.1\u0000",
  ])("is nothing else: %j", (text) => {
    expect(parseEventId(text)).toBeUndefined();
  });
});

describe("a stream whose storage has taken an entry and has not said so", () => {
  /** Appends take effect at once; their answers come when they are let go. */
  function slowAnswers() {
    const storage = home(false);
    const answers: (() => void)[] = [];
    const append: StreamStorage["log"]["append"] = async (...args) => {
      const id = await storage.log.append(...args);
      await new Promise<void>((resolve) => answers.push(resolve));
      return id;
    };
    const queues = new Set<{ overdue(): void }>();
    const late: StreamStorage["late"] = { touch: (queue) => void queues.add(queue), drop() {} };
    const { log } = storage;
    const slow: StreamStorage = {
      ...storage,
      late,
      log: {
        append,
        read: (...args) => log.read(...args),
        touch: (...args) => log.touch(...args),
        drop: (name) => log.drop(name),
      },
    };
    const overdue = () => {
      for (const queue of queues) queue.overdue();
    };
    const answer = async () => {
      answers.shift()?.();
      await settled();
    };
    return { slow, overdue, answer };
  }

  it("gives each event once to a client that comes back, and again to the next connection", async () => {
    const { slow, overdue, answer } = slowAnswers();
    const stream = new LoggedStream(slow, "x", true);
    const first = new Recorder();
    stream.begin(first.asConnection());
    for (const text of ["1", "2", "3"]) stream.say(text);
    overdue();
    // The log has 1, and the client all three, none of them with a place in the log.
    expect(first.data).toEqual(["1", "2", "3"]);
    first.open = false;
    first.onLost?.();
    const second = new Recorder();
    const place = parseEventId(first.ids.at(-1) ?? "");
    if (place === undefined) throw new Error("an event has no id");
    stream.attach(second.asConnection(), place);
    overdue();
    stream.say("4");
    await settled();
    expect(second.data).toEqual(["4"]);
    const third = new Recorder();
    const next = parseEventId(second.ids.at(-1) ?? "");
    if (next === undefined) throw new Error("an event has no id");
    await answer();
    second.open = false;
    second.onLost?.();
    stream.attach(third.asConnection(), next);
    stream.say("5");
    for (let count = 0; count < 5; count++) await answer();
    expect(third.data).toEqual(["5"]);
  });
});
