import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePattern } from "./compile-pattern.js";
import { compileAutomaton } from "./pattern/automaton.js";
import { proveLinear } from "./pattern/linear-proof.js";
import { parsePattern } from "./pattern/pattern-tree.js";
import { SchemaError } from "./schema-error.js";
import { spend, startValidation } from "./validation.js";

const run = () => startValidation({ steps: 5_000_000, depth: 400, issues: 10 }, undefined);

function byAutomaton(source: string, text: string, flags: "u" | "" = "u"): boolean {
  return compileAutomaton(parsePattern(source, flags), flags, spend)(text, run());
}

describe("The automaton agrees with the platform's regular expressions", () => {
  const cases: [string, string[]][] = [
    ["^a|b$", ["a", "ab", "ba", "cb", "c"]],
    ["^(?:a|b)+?c{2,3}$", ["abcc", "abc", "cc", "abcccc"]],
    ["a{0}b", ["b", "ab", "a"]],
    ["^(a*)*$", ["", "aaa", "aab"]],
    ["\\bfoo\\b", ["foo", "a foo b", "food", "_foo"]],
    ["\\Boo\\B", ["foo", "food", "oo"]],
    ["^[^\\]\\\\a-c]+$", ["xyz", "a", "]", "\\"]],
    ["^\\p{Lu}\\P{Lu}*$", ["Éa", "éa", "E1", "EE"]],
    ["^.$", ["x", "😀", "\n", "\ud800", "ab"]],
    ["^\\u{1F600}\\uD83D\\uDE00$", ["😀😀", "😀"]],
    ["^[😀-😂]$", ["😁", "😀😀", "a"]],
    ["^\\x41\\u0042\\cJ\\t\\0$", ["AB\n\t\0", "AB"]],
    ["^(?=.*\\d)(?=.*[a-z])(?!.*\\s).{4,8}$", ["abc1", "abcd", "ab 1", "a1", "abcdefgh1"]],
    ["(?<=\\$)\\d+(?!\\d|\\.)", ["$42", "42", "$4.2", "x$7y"]],
    ["(?<!a)b(?=c(?!d))", ["bc", "abc", "bcd", "xbce"]],
    ["^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$", ["2024-12", "2024-13", "24-12"]],
    ["^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$", ["a.b+c@d-e.fg", "a@b", "@b.c"]],
    ["", ["", "a"]],
  ];
  for (const [source, texts] of cases) {
    it(source || "(empty)", () => {
      for (const text of texts)
        expect([text, byAutomaton(source, text)]).toEqual([text, new RegExp(source, "u").test(text)]);
    });
  }

  it("for patterns that are only valid without Unicode mode", () => {
    const source = "^[\\w-.]+\\-{x}$";
    expect(() => new RegExp(source, "u")).toThrow();
    for (const text of ["a.b-{x}", "😀-{x}", "a-x"]) {
      expect(byAutomaton(source, text, "")).toBe(new RegExp(source).test(text));
      expect(compilePattern(source, "/pattern")(text, run())).toBe(new RegExp(source).test(text));
    }
  });

  it("for random patterns and texts, and compilePattern does too", () => {
    const atom = fc.constantFrom("a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\d", "^", "$", "\\b", "(?:)");
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        atom,
        fc.tuple(tie("tree"), tie("tree")).map(([x, y]) => x + y),
        fc.tuple(tie("tree"), tie("tree")).map(([x, y]) => `(?:${x}|${y})`),
        fc
          .tuple(tie("tree"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"))
          .map(([x, q]) => `(?:${x})${q}`),
        fc.tuple(tie("tree"), fc.constantFrom("=", "!", "<=", "<!")).map(([x, kind]) => `(?${kind}${x})`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "1", " "), maxLength: 8 });
    fc.assert(
      fc.property(tree, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const native = new RegExp(source, "u");
        const chosen = compilePattern(source, "/pattern");
        for (const each of texts) {
          expect(byAutomaton(source, each)).toBe(native.test(each));
          expect(chosen(each, run())).toBe(native.test(each));
        }
      }),
      { numRuns: 1_500 },
    );
  });
});

describe("A pattern is given to the platform only where backtracking stays linear", () => {
  const linear = [
    "^[a-z0-9]+(-[a-z0-9]+)*$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^(?:yes|no)$",
    "^x-",
    "foo",
    "[A-Z]",
    "^.*$",
    "^a?b?c$",
  ];
  const others = [
    "^(a+)+$",
    "^(a*)*$",
    "^(a?){30}$",
    "a*b",
    "\\s+$",
    "^(a|a)*$",
    "^(a|ab)*$",
    "^(a?|b?)c$",
    "^a*a*$",
    "(?=a)b",
  ];
  for (const source of linear) it(`${source} is`, () => expect(proveLinear(parsePattern(source, "u"))).toBeDefined());
  for (const source of others)
    it(`${source} is not`, () => expect(proveLinear(parsePattern(source, "u"))).toBeUndefined());
});

describe("compilePattern refuses", () => {
  const refused: [string, string][] = [
    ["^(a)\\1$", "unsupported_pattern"],
    ["(?<x>a)\\k<x>", "unsupported_pattern"],
    ["(a{0,1000}){0,1000}b", "unsupported_pattern"],
    ["(?:){1000000000}x*y", "unsupported_pattern"],
    ["(", "invalid_schema"],
    ["[z-a]", "invalid_schema"],
  ];
  for (const [source, code] of refused) {
    it(`${source} as ${code}, naming its path`, () => {
      let caught: unknown;
      try {
        compilePattern(source, "/properties/a/pattern");
      } catch (error) {
        caught = error;
      }
      expect(caught).toBeInstanceOf(SchemaError);
      expect(caught).toMatchObject({ code, path: "/properties/a/pattern" });
    });
  }
});
