import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeHeaderValue, encodeHeaderValue } from "./header-value.js";

describe("a header value", () => {
  it("has the published Base64 form exactly where a header cannot carry the text (HTTP26-38, HTTP26-39)", () => {
    const vectors: [string, string][] = [
      ["", ""],
      ["us west 1", "us west 1"],
      ["a\tb", "a\tb"],
      [" padded ", "=?base64?IHBhZGRlZCA=?="],
      ["\ttab", "=?base64?CXRhYg==?="],
      ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
      ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
      ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    ];
    for (const [text, value] of vectors) {
      expect(encodeHeaderValue(text)).toBe(value);
      expect(decodeHeaderValue(value)).toBe(text);
    }
  });

  it("that is marked and no strict Base64 of UTF-8 is refused; other markers are literals (HTTP26-40)", () => {
    for (const bad of ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGV sbG8=?=", "=?base64?/w==?="]) {
      expect(decodeHeaderValue(bad)).toBeUndefined();
    }
    for (const literal of ["=?BASE64?SGVsbG8=?=", "=?base64?SGVsbG8=", "SGVsbG8=", "?="]) {
      expect(decodeHeaderValue(literal)).toBe(literal);
    }
  });

  it("comes back as it was, whatever the text, and is visible ASCII on the way", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const value = encodeHeaderValue(text);
        expect(value).toMatch(/^[\x20-\x7e\t]*$/);
        expect(decodeHeaderValue(value)).toBe(text);
      }),
    );
  });
});
