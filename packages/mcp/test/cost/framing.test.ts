import { describe, expect, it } from "vitest";
import { ContentLengthDecoder } from "../../src/transport/framing/content-length.js";
import { LineDecoder } from "../../src/transport/framing/lines.js";
import { SseDecoder } from "../../src/transport/framing/sse-decoder.js";
import { countSteps, growthOf, liveBytes } from "./cost.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const MEBIBYTE = 1024 * 1024;

describe("newline framing under load", () => {
  it("costs in proportion to the length of a message that comes in 1 KiB chunks", () => {
    const chunk = new Uint8Array(1024).fill(0x61);
    const feed = (chunks: number) => () => {
      let length = 0;
      const decoder = new LineDecoder({ message: (text) => (length = text.length), error: () => expect.fail() });
      for (let index = 0; index < chunks; index++) decoder.feed(chunk);
      decoder.feed(Uint8Array.of(0x0a));
      expect(length).toBe(chunks * 1024);
    };
    expect(countSteps(feed(9 * 1024))).toBeLessThanOrEqual(40 * 9 * 1024);
    // Nine times the length: a reader that copies all that came before takes 81 times as long.
    expect(growthOf(feed(1024), feed(9 * 1024), 30)).toBeLessThanOrEqual(30);
  });

  it("holds no more than its limit of an endless line", () => {
    const decoder = new LineDecoder({ message: () => {}, error: () => {} });
    const chunk = new Uint8Array(1024).fill(0x61);
    const before = liveBytes();
    for (let index = 0; index < 64 * 1024; index++) {
      decoder.feed(chunk);
      if (index % 8_192 === 0) expect(liveBytes() - before).toBeLessThan(34 * MEBIBYTE);
    }
  });

  it("reads lines of one chunk in proportion to their number", () => {
    const read = (lines: number) => {
      const chunk = bytes('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'.repeat(lines));
      return () => {
        let count = 0;
        new LineDecoder({ message: () => count++, error: () => expect.fail() }).feed(chunk);
        expect(count).toBe(lines);
      };
    };
    expect(countSteps(read(100_000))).toBeLessThanOrEqual(20 * 100_000);
    expect(growthOf(read(12_500), read(100_000), 24)).toBeLessThanOrEqual(24);
  });

  it("refuses two-byte garbage lines in proportion to their number", () => {
    const read = (lines: number) => {
      const chunk = new Uint8Array(2 * lines).map((_, index) => (index % 2 === 0 ? 0xff : 0x0a));
      return () => {
        let errors = 0;
        new LineDecoder({ message: () => expect.fail(), error: () => errors++ }).feed(chunk);
        expect(errors).toBe(lines);
      };
    };
    expect(countSteps(read(100_000))).toBeLessThanOrEqual(40 * 100_000);
    expect(growthOf(read(12_500), read(100_000), 24)).toBeLessThanOrEqual(24);
  });
});

describe("Content-Length framing", () => {
  it("allocates nothing for a length that is only announced", () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoder = new ContentLengthDecoder({ message() {}, error() {} });
    decoder.feed(bytes(`Content-Length: ${16 * MEBIBYTE}\r\n\r\nx`));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MEBIBYTE);
  });
});

describe("server-sent events without bound", () => {
  function read(chunks: Iterable<Uint8Array>): void {
    const decoder = new SseDecoder({ event() {}, retry() {}, comment() {}, error() {} });
    for (const chunk of chunks) decoder.feed(chunk);
    decoder.end();
  }

  it("hold no more than the limit of one endless line", () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x61);
    const before = liveBytes();
    read(
      (function* () {
        yield bytes("data: ");
        for (let index = 0; index < 1_024; index++) {
          yield chunk;
          if (index % 128 === 0) expect(liveBytes() - before).toBeLessThan(34 * MEBIBYTE);
        }
      })(),
    );
  });

  it.each(["x", "datax: 1", "retry: never", "DATA: 1"])(
    "pass over a megabyte of lines %j in a few steps each",
    (line) => {
      const flood = (length: number) => {
        const lines = bytes(`data: a\n${`${line}\n`.repeat(length / (line.length + 1))}data: b\n\n`);
        return () => read([lines]);
      };
      expect(countSteps(flood(MEBIBYTE))).toBeLessThanOrEqual(30 * MEBIBYTE);
      expect(growthOf(flood(MEBIBYTE / 8), flood(MEBIBYTE), 24)).toBeLessThanOrEqual(24);
    },
  );

  it("take linear time for carriage returns, and for an event of one-character chunks", () => {
    const returns = (length: number) => {
      const chunk = new Uint8Array(length).fill(0x0d);
      return () => read([chunk]);
    };
    const characters = (count: number) => () =>
      read(
        (function* () {
          const chunk = bytes("a");
          yield bytes("data: ");
          for (let index = 0; index < count; index++) yield chunk;
          yield bytes("\n\n");
        })(),
      );
    expect(countSteps(returns(MEBIBYTE))).toBeLessThanOrEqual(30 * MEBIBYTE);
    expect(countSteps(characters(100_000))).toBeLessThanOrEqual(40 * 100_000);
    expect(growthOf(returns(MEBIBYTE / 8), returns(MEBIBYTE), 24)).toBeLessThanOrEqual(24);
    expect(growthOf(characters(12_500), characters(100_000), 24)).toBeLessThanOrEqual(24);
  });
});
