import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineDifference } from "./write-types.js";

const signs = (before: string, after: string) =>
  lineDifference(before.replaceAll(" ", "\n"), after.replaceAll(" ", "\n")).map((place) =>
    place.map(({ sign, line }) => sign + line).join("|"),
  );

describe("the difference of two texts", () => {
  it("shows removed and added lines with two equal ones around, place by place", () => {
    expect(signs("a b c", "a b c")).toEqual([]);
    expect(signs("a b c", "a x c")).toEqual([" a|-b|+x| c"]);
    expect(signs("a b c d e f g h", "b c d e f g h i")).toEqual(["-a| b| c", " g| h|+i"]);
    expect(signs("a b c d e", "a b X c d e")).toEqual([" a| b|+X| c| d"]);
  });

  it("leads from the one text to the other", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 5 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        // So few lines are all near each other only if there is one place.
        const places = lineDifference(before, after);
        fc.pre(places.length < 2);
        const lines = places.flat();
        const kept = (without: string) => lines.filter(({ sign }) => sign !== without).map(({ line }) => line);
        expect(before).toContain(kept("+").join("\n"));
        expect(after).toContain(kept("-").join("\n"));
        expect(lines.length === 0).toBe(before === after);
      }),
    );
  });

  it("gives up on pairing where there is too much", () => {
    const long = (word: string) => Array.from({ length: 3_000 }, (_, at) => word + at).join("\n");
    const [place = []] = lineDifference(long("a"), long("b"));
    expect(place).toHaveLength(6_000);
  });
});
