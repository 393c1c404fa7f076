import { describe, expect, it } from "vitest";
import { SseDecoder, type SseEvent } from "../../../src/transport/framing/sse-decoder.js";
import { SSE_CASES, type SseCase } from "./sse-cases.js";

/** Reads a stream that arrives in the given pieces. */
function read(pieces: readonly Uint8Array[]): { events: SseEvent[]; retries: number[] } {
  const events: SseEvent[] = [];
  const retries: number[] = [];
  const decoder = new SseDecoder({
    event: (event) => events.push(event),
    retry: (ms) => retries.push(ms),
    error: ({ message }) => expect.unreachable(message),
  });
  for (const piece of pieces) decoder.feed(piece);
  decoder.end();
  return { events, retries };
}

function bytesOf({ stream, latin1 }: SseCase): Uint8Array {
  return Buffer.from(stream, latin1 === true ? "latin1" : "utf8");
}

describe(`the format of server-sent events, ${SSE_CASES.length} streams`, () => {
  it.each(SSE_CASES.map((each) => [each.name, each] as const))("%s, in one piece and at every split", (_name, each) => {
    const bytes = bytesOf(each);
    const expected = { events: [...each.events], retries: [...(each.retries ?? [])] };
    expect(read([bytes])).toEqual(expected);
    for (let at = 0; at <= bytes.length; at++) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(expected);
    }
    expect(read(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(expected);
  });
});
