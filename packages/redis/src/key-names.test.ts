import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { slotOf } from "./cluster-route.js";
import { KeyNames } from "./key-names.js";

const names = new KeyNames("parley:");
const braced = fc
  .array(fc.constantFrom("{", "}", "a", "b", ":", "#", "-"), { maxLength: 8 })
  .map((parts) => parts.join(""));

describe("names of keys", () => {
  it("have the slots that Redis computes", () => {
    expect([slotOf("123456789"), slotOf("foo{123456789}bar"), slotOf("{}123456789")]).toEqual([12_739, 12_739, 1_951]);
  });

  it("are different for different names and kinds", () => {
    fc.assert(
      fc.property(fc.uniqueArray(braced, { maxLength: 20 }), (given) => {
        const keys = given.flatMap((name) => [names.value(name), names.topic(name), ...names.stream(name)]);
        expect(new Set(keys).size).toBe(given.length * 4);
      }),
    );
  });

  it("put both keys of a stream into one slot, whatever its name", () => {
    fc.assert(
      fc.property(fc.oneof(braced, fc.string({ unit: "grapheme" })), (name) => {
        const [entries, figures] = names.stream(name);
        expect(slotOf(entries)).toBe(slotOf(figures));
      }),
    );
  });

  it("put what has the same first text in braces into one slot", () => {
    const keys = [
      names.value("http/session/{id}"),
      names.topic("x{id}y{other}"),
      ...names.stream("http/events/{}/{id}/1"),
    ];
    expect(new Set(keys.map(slotOf))).toEqual(new Set([slotOf("id")]));
  });
});
