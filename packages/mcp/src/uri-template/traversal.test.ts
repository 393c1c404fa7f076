import { describe, expect, it } from "vitest";
import { hasTraversal } from "./parse.js";

describe("RES-06 path traversal in template variables", () => {
  const refused = [
    "..",
    "../etc/passwd",
    "a/../../b",
    "a/..",
    ".. ",
    "a/.. ./b",
    "%2e%2e",
    "%2E%2e/x",
    ".%2e",
    "a%2f..%2fb",
    "%252e%252e",
    "%25252e%25252e%25252f",
    "a\\b",
    "..\\windows",
    "%5c",
    "%255C",
    "a\u0000.txt",
    "%00",
    "%2500",
  ];
  for (const value of refused) {
    it(`refuses ${JSON.stringify(value)}`, () => {
      expect(hasTraversal(value)).toBe(true);
    });
  }

  for (const value of [
    "",
    "a",
    "a/b/c.txt",
    ".",
    "./a",
    ".env",
    "a..b",
    "wait...",
    "..a",
    "100%",
    "50%25",
    "%41",
    "é",
    "/abs",
  ]) {
    it(`lets ${JSON.stringify(value)} pass`, () => {
      expect(hasTraversal(value)).toBe(false);
    });
  }
});
