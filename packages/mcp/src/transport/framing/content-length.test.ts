import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ContentLengthDecoder, encodeContentLength } from "./content-length.js";
import type { FramingOptions } from "./frame-decoder.js";
import { SniffingDecoder } from "./sniff.js";

const encoder = new TextEncoder();
const bytes = (text: string) => encoder.encode(text);
const concat = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

type Reader = typeof ContentLengthDecoder | typeof SniffingDecoder;

function read(chunks: Iterable<Uint8Array>, options?: FramingOptions, Decoder: Reader = ContentLengthDecoder) {
  const messages: string[] = [];
  const errors: string[] = [];
  const decoder = new Decoder(
    { message: (text) => messages.push(text), error: (error) => errors.push(error.code) },
    options,
  );
  for (const chunk of chunks) decoder.feed(chunk);
  decoder.end();
  decoder.end();
  decoder.feed(bytes("Content-Length: 1\r\n\r\nx"));
  return { messages, errors };
}

function splitAt(data: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [...new Set(cuts.map((cut) => cut % (data.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => data.slice(start, at[index] ?? data.length));
}

/** Reads the stream whole, cut at every place, and byte by byte, and expects one answer. */
function readAnyway(stream: Uint8Array, options?: FramingOptions) {
  const whole = read([stream], options);
  for (let cut = 0; cut <= stream.length; cut++) expect(read(splitAt(stream, [cut]), options)).toEqual(whole);
  expect(
    read(
      [...stream].map((byte) => Uint8Array.of(byte)),
      options,
    ),
  ).toEqual(whole);
  return whole;
}

const GOOD = encodeContentLength('{"ok":"é😀"}');

describe("Content-Length framing", () => {
  it("counts bytes, not characters, and reads back what it wrote", () => {
    expect(GOOD).toBe('Content-Length: 15\r\n\r\n{"ok":"é😀"}');
    expect(readAnyway(bytes(GOOD + GOOD))).toEqual({ messages: ['{"ok":"é😀"}', '{"ok":"é😀"}'], errors: [] });
  });

  it("takes any case, bare newlines, other headers and blank lines between frames", () => {
    const stream =
      "\r\n\ncontent-LENGTH :  2 \nContent-Type: application/json; charset=utf-8\n\n{}\r\n\r\nX-Other: 1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n[]";
    expect(readAnyway(bytes(stream))).toEqual({ messages: ["{}", "[]"], errors: [] });
  });

  it("takes an empty frame for nothing", () => {
    expect(readAnyway(bytes(`Content-Length: 0\r\n\r\n${GOOD}`))).toEqual({ messages: ['{"ok":"é😀"}'], errors: [] });
  });

  const bad: Record<string, string> = {
    "no length": "Content-Type: x\r\n\r\n{}\r\n",
    "a length that is no number": "Content-Length: many\r\n\r\n",
    "a negative length": "Content-Length: -1\r\n\r\n",
    "a length beyond all numbers": "Content-Length: 99999999999999999999\r\n\r\n",
    "two lengths": "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}\n",
    "a line without a colon": '{"jsonrpc":"2.0"\r\n',
    "a header block without end": `X: ${"y".repeat(9_000)}\r\n`,
    "a flood of header lines": "X:\r\n".repeat(3_000),
  };
  for (const [name, header] of Object.entries(bad)) {
    it(`refuses ${name} once and resumes at the next good header`, () => {
      const expected = { messages: ['{"ok":"é😀"}'], errors: ["bad_header"] };
      const stream = bytes(header + GOOD);
      expect(read([stream])).toEqual(expected);
      expect(read(splitAt(stream, [1, 7, 100, 5_000]))).toEqual(expected);
      expect(read([...stream].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    });
  }

  it("refuses an oversized frame when its header is read, and skips exactly its bytes", () => {
    const stream = bytes(`Content-Length: 20\r\n\r\n${"x".repeat(20)}Content-Length: 2\r\n\r\n{}`);
    expect(readAnyway(stream, { maxMessageBytes: 8 })).toEqual({ messages: ["{}"], errors: ["oversized_frame"] });
  });

  it("refuses a body that is not UTF-8 and reads the next", () => {
    const stream = concat(bytes("Content-Length: 2\r\n\r\n"), Uint8Array.of(0xc3, 0x28), bytes(GOOD));
    expect(readAnyway(stream)).toEqual({ messages: ['{"ok":"é😀"}'], errors: ["invalid_utf8"] });
  });

  it("reports a stream that ends inside a frame, and none that ends between two", () => {
    const stream = bytes(GOOD);
    for (let length = 1; length < stream.length; length++) {
      expect(read([stream.slice(0, length)])).toEqual({ messages: [], errors: ["truncated"] });
    }
    expect(read([bytes(`${GOOD}\r\n`)]).errors).toEqual([]);
    expect(read([])).toEqual({ messages: [], errors: [] });
  });

  it("gives back any messages for any split", () => {
    const message = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat()), (messages, cuts) => {
        const stream = bytes(messages.map(encodeContentLength).join(""));
        expect(read(splitAt(stream, cuts))).toEqual({ messages, errors: [] });
      }),
      { numRuns: 500 },
    );
  });

  it("reads garbage the same way for any split, without a throw, and then a good frame", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.constantFrom("\n", "\r\n\r\n", "Content-", "Content-Length: x\r\n", "X: y\r\n", "{}").map(bytes),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat()), (pieces, cuts) => {
        const stream = concat(...pieces, bytes(`\r\n${GOOD}`));
        const whole = read([stream]);
        expect(read(splitAt(stream, cuts))).toEqual(whole);
        expect(whole.messages).toEqual(['{"ok":"é😀"}']);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("sniffing the framing", () => {
  const cases: [name: string, stream: string, messages: string[], errors: string[]][] = [
    ["JSON lines", '{"a":1}\n[2]\n', ['{"a":1}', "[2]"], []],
    ["lines after white space", '\n\r\n  {"a":1}\n', ['{"a":1}'], []],
    ["lines after a byte order mark", "\ufeff1\n2\n", ["1", "2"], []],
    ["a banner that begins alike", "Connecting\n1\n", ["Connecting", "1"], []],
    ["a banner that begins alike for long", "Content!\n", ["Content!"], []],
    ["an unterminated beginning", "Conte", ["Conte"], []],
    ["Content-Length frames", `\r\n${GOOD}${GOOD}`, ['{"ok":"é😀"}', '{"ok":"é😀"}'], []],
    ["other content headers first", "CONTENT-type: x\r\nContent-Length: 2\r\n\r\n{}", ["{}"], []],
    ["nothing", "", [], []],
    ["white space only", " \n\t", [], []],
  ];
  for (const [name, stream, messages, errors] of cases) {
    it(`reads ${name}, however it is split`, () => {
      const data = bytes(stream);
      for (let cut = 0; cut <= data.length; cut++) {
        expect(read(splitAt(data, [cut]), {}, SniffingDecoder)).toEqual({ messages, errors });
      }
      expect(
        read(
          [...data].map((byte) => Uint8Array.of(byte)),
          {},
          SniffingDecoder,
        ),
      ).toEqual({ messages, errors });
    });
  }

  it("tells which framing it found", () => {
    const decoder = new SniffingDecoder({ message() {}, error() {} });
    expect(decoder.framing).toBeUndefined();
    decoder.feed(bytes(GOOD));
    expect(decoder.framing).toBe("content-length");
  });
});
