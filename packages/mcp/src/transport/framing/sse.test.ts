import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseDecoder, type SseDecoderOptions, type SseEvent } from "./sse-decoder.js";
import { encodeComment, encodeEvent } from "./sse-encode.js";

const encoder = new TextEncoder();
const bytes = (text: string) => encoder.encode(text);

function read(chunks: Iterable<Uint8Array>, options?: SseDecoderOptions, wantsComments = true) {
  const events: SseEvent[] = [];
  const retries: number[] = [];
  const comments: string[] = [];
  const errors: string[] = [];
  const decoder = new SseDecoder(
    {
      event: (event) => events.push(event),
      retry: (ms) => retries.push(ms),
      ...(wantsComments ? { comment: (text: string) => comments.push(text) } : {}),
      error: (error) => errors.push(error.code),
    },
    options,
  );
  for (const chunk of chunks) decoder.feed(chunk);
  decoder.end();
  decoder.feed(bytes("data: late\n\n"));
  return { events, retries, comments, errors };
}

function splitAt(data: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [...new Set(cuts.map((cut) => cut % (data.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => data.slice(start, at[index] ?? data.length));
}

/** Reads the stream whole, cut at every place, and byte by byte, and expects one answer. */
function readAnyway(stream: Uint8Array) {
  const whole = read([stream]);
  for (let cut = 0; cut <= stream.length; cut++) expect(read(splitAt(stream, [cut]))).toEqual(whole);
  expect(read([...stream].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
  return whole;
}

describe("comments that nobody reads", () => {
  const line = fc.oneof(
    fc.constantFrom("", ":", ": x", ":data: y", "data: :z", "data: a\u2028:b", "data", "event: e", "id: 1", "retry: 9"),
    fc.string({ maxLength: 6 }).map((text) => `data: ${text.replace(/[\r\n]/g, ":")}`),
    fc.string({ maxLength: 6 }).map((text) => `:${text.replace(/[\r\n]/g, ":")}`),
  );
  const ending = fc.constantFrom("\n", "\r\n", "\r");

  it("change nothing of what is read, however the stream is cut", () => {
    const lines = fc.array(fc.tuple(line, ending), { maxLength: 20 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(400), { maxLength: 8 }), (parts, cuts) => {
        const stream = bytes(parts.flat().join(""));
        const { events, retries, errors } = read([stream]);
        expect(read(splitAt(stream, cuts), {}, false)).toEqual({ events, retries, errors, comments: [] });
      }),
      { numRuns: 2000 },
    );
  });

  it("are not kept, however long they are", () => {
    const piece = bytes("x".repeat(64 * 1024));
    const long = [bytes(":"), ...Array.from({ length: 64 }, () => piece), bytes("\n\ndata: 1\n\n")];
    // One that is read is held to the limit of an event.
    expect(read(long, { maxEventLength: 1024 * 1024 }).errors).toEqual(["oversized_frame"]);
    expect(read(long, { maxEventLength: 1024 * 1024 }, false)).toMatchObject({ events: [{ data: "1" }], errors: [] });
  });
});

describe("writing server-sent events", () => {
  it("writes each field on its line and ends with a blank one", () => {
    expect(encodeEvent({ id: "1", event: "message", data: "{}", retry: 500 })).toBe(
      "id: 1\nevent: message\nretry: 500\ndata: {}\n\n",
    );
    expect(encodeEvent({ data: "a\nb\r\nc\rd" })).toBe("data: a\ndata: b\ndata: c\ndata: d\n\n");
    expect(encodeEvent({ id: "1", data: "" })).toBe("id: 1\ndata: \n\n");
    expect(encodeEvent({ retry: 0 })).toBe("retry: 0\n\n");
    expect(encodeComment("ping")).toBe(": ping\n\n");
    expect(encodeComment("a\ndata: b")).toBe(": a\n: data: b\n\n");
  });

  it("refuses fields that would become something else", () => {
    for (const bad of [
      { id: "a\nb" },
      { id: "a\u0000" },
      { event: "a\rb" },
      { retry: -1 },
      { retry: 0.5 },
      { retry: Number.NaN },
    ]) {
      expect(() => encodeEvent(bad)).toThrow(RangeError);
    }
  });
});

describe("reading server-sent events", () => {
  const cases: [name: string, stream: string, expected: Partial<ReturnType<typeof read>>][] = [
    ["line feeds", "data: a\n\ndata: b\n\n", { events: [{ data: "a" }, { data: "b" }] }],
    ["carriage returns", "data: a\r\rdata: b\r\r", { events: [{ data: "a" }, { data: "b" }] }],
    ["both", "data: a\r\n\r\ndata: b\r\n\r\n", { events: [{ data: "a" }, { data: "b" }] }],
    ["a mixture", "data: a\r\rdata: b\n\r\ndata: c\r\n\n", { events: [{ data: "a" }, { data: "b" }, { data: "c" }] }],
    ["a byte order mark", "\ufeffdata: a\n\n", { events: [{ data: "a" }] }],
    ["no space and two spaces", "data:a\ndata:  b\n\n", { events: [{ data: "a\n b" }] }],
    ["a field without a colon", "data\n\n", { events: [{ data: "" }] }],
    ["the priming event", "id: 7\ndata:\n\n", { events: [{ id: "7", data: "" }] }],
    ["an id with NUL", "id: a\u0000b\ndata: a\n\n", { events: [{ data: "a" }] }],
    ["types", "event: x\ndata: a\n\nevent:\ndata: b\n\n", { events: [{ event: "x", data: "a" }, { data: "b" }] }],
    ["an event without data", "event: x\nid: 1\n\ndata: a\n\n", { events: [{ data: "a" }] }],
    ["retry", "retry: 500\n\nretry: x\n\nretry: -1\n\nretry: 1e3\n\n", { events: [], retries: [500] }],
    ["comments", ": hello\n:\n\n", { events: [], comments: ["hello", ""] }],
    ["unknown fields", "foo: bar\ndata: a\nDATA: b\n\n", { events: [{ data: "a" }] }],
    ["an incomplete last event", "data: a\n\ndata: b\n", { events: [{ data: "a" }] }],
    ["characters of every length", "data: aé€😀\u2028\n\n", { events: [{ data: "aé€😀\u2028" }] }],
  ];
  for (const [name, stream, expected] of cases) {
    it(`reads ${name}, however it is split`, () => {
      expect(readAnyway(bytes(stream))).toMatchObject({ errors: [], ...expected });
    });
  }

  it("replaces bytes that are not UTF-8", () => {
    const stream = Uint8Array.from([...bytes("data: a"), 0xff, 0xc3, ...bytes("b\n\n")]);
    expect(readAnyway(stream).events).toEqual([{ data: "a\ufffd\ufffdb" }]);
  });

  it("gives back what was written, for any split", () => {
    const text = fc.string({ unit: "binary", maxLength: 30 });
    const field = text
      .map((value) => value.replace(/[\r\n]/g, "").replaceAll("\u0000", ""))
      .filter((value) => value !== "");
    const event = fc.record({ data: text, id: field, event: field }, { requiredKeys: ["data"] });
    fc.assert(
      fc.property(fc.array(event), fc.array(fc.nat()), (events, cuts) => {
        const stream = bytes(events.map((item) => encodeComment("x") + encodeEvent(item)).join(""));
        const expected = events.map((item) => ({ ...item, data: item.data.replace(/\r\n?/g, "\n") }));
        expect(read(splitAt(stream, cuts))).toMatchObject({ events: expected, errors: [] });
      }),
      { numRuns: 300 },
    );
  });

  it("reads garbage the same way for any split, without a throw, and then a good event", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.constantFrom("\r", "\n", "data", ":", "id: 1", "retry: 9").map(bytes),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), fc.array(fc.nat()), (pieces, cuts) => {
        const stream = Uint8Array.from([...pieces.flatMap((part) => [...part]), ...bytes("\n\ndata: ok\n\n")]);
        const whole = read([stream]);
        expect(read(splitAt(stream, cuts))).toEqual(whole);
        expect(whole.events.at(-1)).toEqual({ data: "ok" });
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("server-sent events without bound", () => {
  const refused = { events: [], errors: ["oversized_frame"] };

  it("refuses one endless line once", () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x61);
    const chunks = function* () {
      yield bytes("data: ");
      for (let index = 0; index < 1_024; index++) yield chunk;
    };
    expect(read(chunks())).toMatchObject(refused);
  });

  it("refuses an event of endless lines, and one that comes whole in one chunk", () => {
    expect(read([bytes("data: aaaaaaaaa\n".repeat(30))], { maxEventLength: 200 })).toMatchObject(refused);
    expect(read([bytes(`data: ${"a".repeat(201)}\n\n`)], { maxEventLength: 200 })).toMatchObject(refused);
    expect(read([bytes(`data: ${"a".repeat(300_000)}\n\n`)], { maxEventLength: 200_000 })).toMatchObject(refused);
  });

  it("reads any number of events, comments and blank lines below the limit", () => {
    const stream = bytes(`${encodeComment("ping")}\n\n${encodeEvent({ data: "a".repeat(90) })}`.repeat(5_000));
    const { events, comments, errors } = read(splitAt(stream, [7, 1_000, 99_999, 400_000]), { maxEventLength: 100 });
    expect([events.length, comments.length, errors.length]).toEqual([5_000, 5_000, 0]);
  });

  it("ignores a megabyte of lines that mean nothing, and reads the event among them", () => {
    for (const line of ["x", "datax: 1", "retry: never", "DATA: 1"]) {
      const flood = `${line}\n`.repeat((1024 * 1024) / (line.length + 1));
      expect(read([bytes(`data: a\n${flood}data: b\n\n`)])).toMatchObject({ events: [{ data: "a\nb" }], errors: [] });
    }
  });
});
