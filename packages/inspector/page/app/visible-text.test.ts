import { describe, expect, test } from "vitest";
import { visibleText } from "./visible-text.js";

const spelled = (...codes: number[]) => visibleText(String.fromCodePoint(...codes));

describe("visibleText", () => {
  test.each([
    ["turns text", 0x202e, "\\u202e"],
    ["isolates text", 0x2066, "\\u2066"],
    ["controls a terminal", 0x1b, "\\u001b"],
    ["ends a line", 0x2028, "\\u2028"],
    ["has no width", 0x200b, "\\u200b"],
    ["joins words", 0x2060, "\\u2060"],
    ["marks the order of bytes", 0xfeff, "\\ufeff"],
    ["hyphenates", 0xad, "\\u00ad"],
    ["fills", 0x3164, "\\u3164"],
    ["annotates", 0xfff9, "\\ufff9"],
    ["is a tag, which models read as a letter", 0xe0041, "\\u{e0041}"],
    ["selects a variant that carries a byte", 0xe0100, "\\u{e0100}"],
  ])("spells out a character that %s", (_what, code, shown) => {
    expect(spelled(code)).toBe(shown);
  });

  test.each(["plain, ümlaut, 漢字", "line\n\ttab", "👩‍🚀 ❤️", "می‌خواهم"])("leaves %j as it is", (text) => {
    expect(visibleText(text)).toBe(text);
  });
});
