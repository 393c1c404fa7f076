import { describe, expect, it } from "vitest";
import type { SendResponse } from "../../../http/http.js";
import { isEventStream, readEvents } from "./event-streams.js";

function responseOf(chunks: Iterable<Uint8Array>, type = "text/event-stream"): SendResponse {
  return {
    status: 200,
    header: (name) => (name === "content-type" ? type : undefined),
    text: () => Promise.resolve(""),
    async *chunks() {
      yield* chunks;
    },
    cancel() {},
  };
}

/** What a sink hears of these bytes, cut into chunks of `size`. */
async function heard(bytes: Uint8Array, size: number, maxBytes = 1_000): Promise<unknown[]> {
  const log: unknown[] = [];
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  await readEvents(
    responseOf(chunks),
    {
      text: (text) => log.push(text),
      other: (type, data) => log.push({ type, data }),
      eventId: (id) => log.push({ id }),
      retry: (ms) => log.push({ retry: ms }),
      oversized: (error) => log.push(error.kind),
    },
    maxBytes,
  );
  return log;
}

const STREAMS: [string, string, unknown[]][] = [
  ["one event", "data: a\n\n", ["a"]],
  ["several lines of data", "data: a\ndata\ndata:b\n\n", ["a\n\nb"]],
  ["every kind of line end", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]],
  ["a byte order mark at the start", "\uFEFFdata: a\n\n", ["a"]],
  ["comments", ": hello\n\n:\n\ndata: a\n: inside\n\n", ["a"]],
  [
    "the type `message` and others",
    "event: message\ndata: a\n\nevent: endpoint\ndata: /b\n\n",
    ["a", { type: "endpoint", data: "/b" }],
  ],
  ["an id, also without data (HTTP25-15)", "id: 1\ndata:\n\nid: 2\ndata: a\n\n", [{ id: "1" }, { id: "2" }, "a"]],
  ["an empty id, which takes the last one back", "id\ndata: a\n\n", [{ id: undefined }, "a"]],
  ["an id with NUL, which does not count", "id: a\u0000b\ndata: x\n\n", ["x"]],
  ["an id beyond ASCII, as a header carries it", "id: é\ndata: x\n\n", [{ id: "Ã©" }, "x"]],
  ["retry", "retry: 500\n\nretry: 0\n\nretry: 1000000000000\n\n", [{ retry: 500 }, { retry: 0 }, { retry: 1e12 }]],
  ["retry that is no number", "retry: -1\n\nretry: 1e3\n\nretry: soon\n\ndata: a\n\n", ["a"]],
  ["unknown fields", "foo: bar\nDATA: no\ndata: a\n\n", ["a"]],
  ["no blank line at the end: the last event is not complete", "data: a\n\ndata: b\n", ["a"]],
  ["text beyond ASCII", "data: 世界 😀\n\n", ["世界 😀"]],
];

describe("an event stream", () => {
  it.each(STREAMS)("with %s is read the same however it is cut", async (_what, text, expected) => {
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size <= bytes.length; size++) expect(await heard(bytes, size)).toEqual(expected);
  });

  it("with invalid UTF-8 harms only the event that holds it", async () => {
    const bytes = Uint8Array.from([
      ...new TextEncoder().encode("data: "),
      0xff,
      0xfe,
      0x0a,
      0x0a,
      ...new TextEncoder().encode("data: b\n\n"),
    ]);
    expect(await heard(bytes, 3)).toEqual(["\uFFFD\uFFFD", "b"]);
  });

  it("is left at the first event that is too long, in one line or in many", async () => {
    for (const text of [`data: ${"x".repeat(2_000)}\n\n`, `${"data: xxxxxxxxxx\n".repeat(200)}\n`]) {
      const bytes = new TextEncoder().encode(`data: a\n\n${text}data: b\n\n`);
      expect(await heard(bytes, 100)).toEqual(["a", "oversized_frame"]);
    }
  });

  it.each([
    ["text/event-stream", true],
    ["Text/Event-Stream; charset=utf-8", true],
    [" text/event-stream ;x", true],
    ["text/event-streams", false],
    ["application/json, text/event-stream", false],
    ["", false],
  ])("is known by its media type: %j is one: %s", (type, expected) => {
    expect(isEventStream(responseOf([], type))).toBe(expected);
  });
});
