import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileMatcher } from "./match.js";
import { matchElements } from "./match-program.js";
import { parseUriTemplate } from "./parse.js";

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
const allBut = (stops: string) => (stops === "" ? "[^]" : `[^${escaped(stops)}]`);

/** The same template as a backtracking regular expression: slow and plainly right, so short texts only. */
function oracle(template: string): RegExp {
  const source = matchElements(parseUriTemplate(template)).map((element) => {
    if (element.kind === "literal") return escaped(element.text);
    const lead = element.lead === -1 ? "" : escaped(String.fromCharCode(element.lead));
    const run = allBut(element.stops);
    if (element.kind === "named") return `(?:${lead}${run}*)?`;
    const longest = Number.isFinite(element.maxLength) ? element.maxLength : "";
    return lead === "" ? `${run}{1,${longest}}` : `(?:${lead}${run}{0,${longest}})?`;
  });
  return new RegExp(`^${source.join("")}$`, "u");
}

describe("the matcher beside a backtracking regular expression", () => {
  const expression = fc.constantFrom(
    "{a}",
    "{b}",
    "{+c}",
    "{+d}",
    "{e:2}",
    "{+f:1}",
    "{g,h}",
    "{i*}",
    "{/j}",
    "{/k*}",
    "{/l,m}",
    "{/n:2}",
    "{.o}",
    "{.p,q}",
    "{;r,s}",
    "{?t,u}",
    "{&v}",
    "{#w}",
    "{#x:1}",
  );
  const literal = fc.constantFrom("a", "ab", "/", "x/", ".", ",", "?", "#", "é", "&a=");
  const template = fc
    .array(fc.oneof(expression, literal), { minLength: 1, maxLength: 6 })
    .map((parts) => [...new Set(parts)].join(""));
  const text = fc.array(fc.constantFrom("a", "b", "/", ".", ",", ";", "?", "&", "=", "#", "é", "😀", "x"), {
    maxLength: 9,
  });

  it("finds a match for exactly the same texts", () => {
    let matches = 0;
    fc.assert(
      fc.property(template, fc.array(text, { minLength: 20, maxLength: 20 }), (given, texts) => {
        const match = compileMatcher(given);
        const expected = oracle(given);
        for (const characters of texts) {
          const uri = characters.join("");
          const found = match(uri) !== undefined;
          if (found) matches++;
          expect(found, `${given} on ${uri}`).toBe(expected.test(uri));
        }
      }),
      { numRuns: 3_000 },
    );
    // A property that nearly never matches would prove little.
    expect(matches).toBeGreaterThan(500);
  });
});
