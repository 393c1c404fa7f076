import { describe, expect, it } from "vitest";
import { ContentLengthDecoder } from "../../src/transport/framing/content-length.js";
import { LineDecoder } from "../../src/transport/framing/lines.js";
import { SseDecoder } from "../../src/transport/framing/sse-decoder.js";
import { cpuTime, heldBytes } from "./cost.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const MEBIBYTE = 1024 * 1024;

function timed(run: () => void): number {
  const start = cpuTime();
  run();
  return cpuTime() - start;
}

describe("newline framing under load", () => {
  it("costs at most 11 times as much for a 9 MB message as for a 1 MB one, in 1 KiB chunks", () => {
    const chunk = new Uint8Array(1024).fill(0x61);
    const feed = (chunks: number) => () => {
      let length = 0;
      const decoder = new LineDecoder({ message: (text) => (length = text.length), error: () => expect.fail() });
      for (let index = 0; index < chunks; index++) decoder.feed(chunk);
      decoder.feed(Uint8Array.of(0x0a));
      expect(length).toBe(chunks * 1024);
    };
    // Nine small messages against one large one, in turn, so that both sides meet the same garbage collections and
    // interruptions. A quadratic reader would need 81 times as much for the large one.
    let small = 0;
    let large = 0;
    for (let round = 0; round < 15; round++) {
      for (let count = 0; count < 9; count++) small += timed(feed(1024)) / 9;
      large += timed(feed(9 * 1024));
      // Far beyond the bound: more rounds would only take longer.
      if (round === 1 && large / small > 40) break;
    }
    expect(large / small).toBeLessThanOrEqual(11);
  });

  it("holds no more than its limit of an endless line", () => {
    const decoder = new LineDecoder({ message: () => {}, error: () => {} });
    const chunk = new Uint8Array(1024).fill(0x61);
    const before = heldBytes();
    for (let index = 0; index < 64 * 1024; index++) decoder.feed(chunk);
    expect(heldBytes() - before).toBeLessThan(64 * MEBIBYTE);
  });

  it("reads a million small lines from one chunk in 2 s", () => {
    const chunk = bytes('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'.repeat(1_000_000));
    let count = 0;
    const elapsed = timed(() => new LineDecoder({ message: () => count++, error: () => expect.fail() }).feed(chunk));
    console.log(`newline framing: ${(count / elapsed / 1000).toFixed(1)} million lines a second`);
    expect(count).toBe(1_000_000);
    expect(elapsed).toBeLessThan(2_000);
  });

  it("refuses half a million two-byte garbage lines in 1 s", () => {
    const chunk = new Uint8Array(1_000_000).map((_, index) => (index % 2 === 0 ? 0xff : 0x0a));
    let errors = 0;
    const elapsed = timed(() => new LineDecoder({ message: () => expect.fail(), error: () => errors++ }).feed(chunk));
    expect(errors).toBe(500_000);
    expect(elapsed).toBeLessThan(1_000);
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
    const before = heldBytes();
    read(
      (function* () {
        yield bytes("data: ");
        for (let index = 0; index < 1_024; index++) yield chunk;
      })(),
    );
    expect(heldBytes() - before).toBeLessThan(64 * MEBIBYTE);
  });

  it.each(["x", "datax: 1", "retry: never", "DATA: 1"])("pass over a megabyte of lines %j in 1 s", (line) => {
    const flood = bytes(`data: a\n${`${line}\n`.repeat(MEBIBYTE / (line.length + 1))}data: b\n\n`);
    expect(timed(() => read([flood]))).toBeLessThan(1_000);
  });

  it("take linear time for 4 MB of carriage returns, and for an event of one-character chunks", () => {
    const chunk = bytes("a");
    const elapsed = timed(() => {
      read([new Uint8Array(4 * MEBIBYTE).fill(0x0d)]);
      read(
        (function* () {
          yield bytes("data: ");
          for (let index = 0; index < 200_000; index++) yield chunk;
          yield bytes("\n\n");
        })(),
      );
    });
    expect(elapsed).toBeLessThan(3_000);
  });
});
