import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBuffer } from "./byte-buffer.js";

describe("a byte buffer", () => {
  it("gives back what was appended, over any block sizes, reads between and clears", () => {
    const size = fc.oneof(fc.nat(10), fc.nat(3_000), fc.constantFrom(1_024, 65_536, 70_000, 1_048_576, 1_100_000));
    const step = fc.oneof(
      { weight: 6, arbitrary: size.map((bytes) => ({ kind: "append" as const, bytes })) },
      { weight: 2, arbitrary: fc.constant({ kind: "read" as const, bytes: 0 }) },
      { weight: 1, arbitrary: fc.constant({ kind: "clear" as const, bytes: 0 }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const buffer = new ByteBuffer();
        let expected = Buffer.alloc(0);
        for (const [index, { kind, bytes }] of steps.entries()) {
          if (kind === "append") {
            const chunk = new Uint8Array(bytes + 2).fill(index + 1);
            buffer.append(chunk, 1, bytes + 1);
            expected = Buffer.concat([expected, chunk.subarray(1, bytes + 1)]);
          } else if (kind === "clear") {
            buffer.clear();
            expected = Buffer.alloc(0);
          }
          expect(buffer.length).toBe(expected.length);
          if (kind === "read") expect(expected.equals(buffer.bytes.subarray(0, buffer.length))).toBe(true);
        }
        expect(expected.equals(buffer.bytes.subarray(0, buffer.length))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
