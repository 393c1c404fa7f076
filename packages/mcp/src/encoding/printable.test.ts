import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable, printableLine, printableMessage } from "./printable.js";

describe("text for a terminal", () => {
  it.each([
    ["\u001b]0;pwned\u0007", "\\u001b]0;pwned\\u0007"],
    ["a\rb\u0000\u007f", "a\\u000db\\u0000\\u007f"],
    ["\u009b2J\u0085", "\\u009b2J\\u0085"],
    ["gpj\u202e.exe \u2066\u2069 \u200e\u200f\u061c", "gpj\\u202e.exe \\u2066\\u2069 \\u200e\\u200f\\u061c"],
    ["\u2028\u2029", "\\u2028\\u2029"],
    ["\ud800 \udc00", "\\ud800 \\udc00"],
    ["grün 日本 👍🏽 \t\n", "grün 日本 👍🏽 \t\n"],
  ])("spells out what could do more than print: %j", (text, said) => {
    expect(printable(text)).toBe(said);
  });

  it("leaves nothing that a terminal obeys, and is stable", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const said = printable(text);
        expect(said).toMatch(/^[\t\n\u0020-\u007e\u00a0-\u{10ffff}]*$/u);
        expect(printable(said)).toBe(said);
        expect(printableLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });

  it("lets no line of a message look like a message of its own", () => {
    expect(printableMessage("no r://\n\u001b[2J2026-01-01 INFO admin logged in\nat x")).toBe(
      "no r://\n  \\u001b[2J2026-01-01 INFO admin logged in\n  at x",
    );
  });

  it("keeps quoted text on one line", () => {
    expect(printableLine("a\nb\tc")).toBe("a\\nb\\tc");
  });
});
