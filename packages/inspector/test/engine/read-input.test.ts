import { McpError } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import {
  choiceOf,
  flagOf,
  listOf,
  MAX_INPUT_ITEMS,
  numberOf,
  optionalChoiceOf,
  optionalFlagOf,
  optionalListOf,
  optionalNumberOf,
  optionalRecordOf,
  optionalTextOf,
  optionalTextsOf,
  recordOf,
  textOf,
  textsOf,
} from "../../src/engine/read-input.js";

/** What throws, and how it says so. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (McpError.is(error)) return `${error.kind}: ${error.message}. ${error.fix}`;
    throw error;
  }
  return "nothing was thrown";
}

describe("inputs of actions", () => {
  const input = { text: "a", record: { b: "c" }, list: [1], flag: false, number: 2.5, choice: "x" };

  it("are read by their names", () => {
    expect(textOf(input, "text")).toBe("a");
    expect(recordOf(input, "record")).toEqual({ b: "c" });
    expect(textsOf(input, "record")).toEqual({ b: "c" });
    expect(listOf(input, "list")).toEqual([1]);
    expect(flagOf(input, "flag")).toBe(false);
    expect(numberOf(input, "number")).toBe(2.5);
    expect(choiceOf(input, "choice", ["x", "y"])).toBe("x");
  });

  it("may be absent where they are optional", () => {
    const readers = [
      optionalTextOf,
      optionalRecordOf,
      optionalTextsOf,
      optionalListOf,
      optionalFlagOf,
      optionalNumberOf,
    ];
    for (const read of readers) expect(read({}, "nothing")).toBeUndefined();
    expect(optionalChoiceOf({}, "nothing", ["x"])).toBeUndefined();
  });

  it("are refused by name when they are missing or of another form", () => {
    for (const read of [textOf, recordOf, textsOf, listOf, flagOf, numberOf]) {
      expect(refusal(() => read({}, "it"))).toMatch(/^invalid_params: `it` is missing\. Send /);
      expect(refusal(() => read({ it: null }, "it"))).toMatch(/^invalid_params: `it` is null\. Send /);
    }
    for (const wrong of [1, true, [], {}])
      expect(refusal(() => textOf({ it: wrong }, "it"))).toMatch(/^invalid_params/);
    for (const wrong of ["", [], 0]) expect(refusal(() => recordOf({ it: wrong }, "it"))).toMatch(/^invalid_params/);
    for (const wrong of [Number.NaN, "1"])
      expect(refusal(() => numberOf({ it: wrong }, "it"))).toMatch(/^invalid_params/);
    expect(refusal(() => textsOf({ it: { a: 1 } }, "it"))).toMatch(/`a` is 1/);
    expect(refusal(() => choiceOf({ it: "z" }, "it", ["x", "y"]))).toMatch(/is "z"\. Send one of x, y/);
  });

  it("are refused when they are too large", () => {
    const it = new Array(MAX_INPUT_ITEMS + 1).fill(0);
    expect(refusal(() => listOf({ it }, "it"))).toMatch(/more than 10000 items/);
  });

  it("are what the page sent, never what objects inherit", () => {
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      expect(refusal(() => textOf({}, name))).toMatch(/is missing/);
      expect(refusal(() => recordOf({}, name))).toMatch(/is missing/);
    }
    // What JSON makes of it is a member like any other.
    const hostile = JSON.parse('{"__proto__":{"text":"inherited"}}') as object;
    expect(refusal(() => textOf(hostile, "text"))).toMatch(/is missing/);
  });

  it("are objects", () => {
    // The web server passes on whatever JSON came.
    for (const wrong of [null, [], "text", 1])
      expect(refusal(() => textOf(wrong as never, "x"))).toMatch(/invalid_params/);
  });
});
