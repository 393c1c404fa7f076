import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FrameDecoder, FrameSink, FramingOptions } from "./frame-decoder.js";
import { LineDecoder } from "./lines.js";

const encoder = new TextEncoder();
const bytes = (text: string) => encoder.encode(text);

interface Seen extends FrameSink {
  readonly messages: string[];
  readonly errors: string[];
}

function sink(): Seen {
  const messages: string[] = [];
  const errors: string[] = [];
  return { messages, errors, message: (text) => messages.push(text), error: (error) => errors.push(error.code) };
}

function read(chunks: Iterable<Uint8Array>, options?: FramingOptions): { messages: string[]; errors: string[] } {
  const seen = sink();
  const decoder: FrameDecoder = new LineDecoder(seen, options);
  for (const chunk of chunks) decoder.feed(chunk);
  decoder.end();
  return { messages: seen.messages, errors: seen.errors };
}

function splitAt(data: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [...new Set(cuts.map((cut) => cut % (data.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => data.slice(start, at[index] ?? data.length));
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

describe("newline framing", () => {
  it("STDIO-05 gives the same messages when every byte comes alone", () => {
    const stream = bytes('{"a":1}\n{"b":"é€😀"}\r\n\n  \n{"c":3}\n');
    const expected = ['{"a":1}', '{"b":"é€😀"}', '{"c":3}'];
    expect(read([stream])).toEqual({ messages: expected, errors: [] });
    expect(read([...stream].map((byte) => Uint8Array.of(byte)))).toEqual({ messages: expected, errors: [] });
  });

  it("STDIO-02 keeps U+2028, U+2029, U+0085 and a lone carriage return inside one line", () => {
    const line = '"a\u2028b\u2029c\u0085d\re"';
    expect(read([bytes(`${line}\n`)]).messages).toEqual([line]);
  });

  it("drops a byte order mark at the start of the stream only, however it is split", () => {
    const stream = bytes("\ufeff1\n\ufeff2\n");
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(read(splitAt(stream, [cut])).messages).toEqual(["1", "\ufeff2"]);
    }
    expect(read([bytes("\ufeff")])).toEqual({ messages: [], errors: [] });
  });

  it("delivers an unterminated last line when the stream ends, and nothing after that", () => {
    const seen = sink();
    const decoder = new LineDecoder(seen);
    decoder.feed(bytes("1\n2"));
    expect(seen.messages).toEqual(["1"]);
    decoder.end();
    decoder.end();
    decoder.feed(bytes("3\n"));
    expect(seen).toMatchObject({ messages: ["1", "2"], errors: [] });
  });

  const invalid: Record<string, number[]> = {
    "a lone continuation byte": [0x80],
    "an overlong slash": [0xc0, 0xaf],
    "an overlong three-byte form": [0xe0, 0x80, 0x80],
    "a surrogate": [0xed, 0xa0, 0x80],
    "a code point above U+10FFFF": [0xf4, 0x90, 0x80, 0x80],
    "a truncated sequence": [0xe2, 0x82],
    "a byte that never occurs": [0xff],
  };
  for (const [name, bad] of Object.entries(invalid)) {
    it(`STDIO-06 refuses a line with ${name} and reads the lines around it`, () => {
      const stream = concat([bytes('{"a":1}\n"'), Uint8Array.from(bad), bytes('"\n{"b":2}\n')]);
      for (let cut = 0; cut <= stream.length; cut++) {
        expect(read(splitAt(stream, [cut]))).toEqual({ messages: ['{"a":1}', '{"b":2}'], errors: ["invalid_utf8"] });
      }
    });
  }

  it("STDIO-05 refuses a line over the limit once, for any split, and resumes at the next newline", () => {
    const stream = bytes(`12345678\n${"x".repeat(9)}\n${"y".repeat(40)}\nok\n`);
    const expected = { messages: ["12345678", "ok"], errors: ["oversized_frame", "oversized_frame"] };
    expect(read([stream], { maxMessageBytes: 8 })).toEqual(expected);
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(read(splitAt(stream, [cut]), { maxMessageBytes: 8 })).toEqual(expected);
    }
    expect(
      read(
        [...stream].map((byte) => Uint8Array.of(byte)),
        { maxMessageBytes: 8 },
      ),
    ).toEqual(expected);
  });

  it("reports an oversized line when the limit is passed, not when its newline comes", () => {
    const seen = sink();
    const decoder = new LineDecoder(seen, { maxMessageBytes: 4 });
    decoder.feed(bytes("12345"));
    expect(seen.errors).toEqual(["oversized_frame"]);
    decoder.end();
    expect(seen.errors).toEqual(["oversized_frame"]);
  });

  it("leaves the caller free to reuse a chunk after feed has returned", () => {
    const seen = sink();
    const decoder = new LineDecoder(seen);
    const chunk = bytes("abc");
    decoder.feed(chunk);
    chunk.fill(0);
    decoder.feed(bytes("d\n"));
    expect(seen.messages).toEqual(["abcd"]);
  });
});

it("newline framing refuses an endless line once, and reads what comes after it", () => {
  const seen = sink();
  const decoder = new LineDecoder(seen);
  const chunk = new Uint8Array(1024).fill(0x61);
  for (let index = 0; index < 64 * 1024; index++) decoder.feed(chunk);
  expect(seen.errors).toEqual(["oversized_frame"]);
  decoder.feed(bytes("\nok\n"));
  expect(seen.messages).toEqual(["ok"]);
});

describe("newline framing, any input", () => {
  const line = fc
    .string({ unit: "binary", maxLength: 40 })
    .map((text) => text.replaceAll("\n", "").replace(/\r+$/, ""))
    .filter((text) => text.trim() !== "" && !text.startsWith("\ufeff"));

  it("STDIO-05 gives back any lines for any split, with either line ending", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\n\n"))),
        fc.array(fc.nat()),
        (lines, cuts) => {
          const stream = bytes(lines.map(([text, end]) => text + end).join(""));
          expect(read(splitAt(stream, cuts))).toEqual({ messages: lines.map(([text]) => text), errors: [] });
        },
      ),
      { numRuns: 500 },
    );
  });

  it("reads garbage the same way for any split, without a throw, and then a good line", () => {
    const garbage = fc.array(fc.oneof(fc.constant(0x0a), fc.nat(255)), { maxLength: 200 });
    fc.assert(
      fc.property(garbage, fc.array(fc.nat()), fc.integer({ min: 4, max: 40 }), (data, cuts, maxMessageBytes) => {
        const stream = concat([Uint8Array.from(data), bytes("\nok\n")]);
        const whole = read([stream], { maxMessageBytes });
        expect(read(splitAt(stream, cuts), { maxMessageBytes })).toEqual(whole);
        expect(whole.messages.at(-1)).toBe("ok");
      }),
      { numRuns: 1_000 },
    );
  });
});
