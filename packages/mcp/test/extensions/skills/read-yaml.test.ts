import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { readYaml } from "../../../src/extensions/skills/yaml/read-yaml.js";
import { countSteps, growthOf } from "../../cost/cost.js";

/** Texts that both readers take for the same. */
const SAME: readonly string[] = [
  "",
  "# nothing\n",
  "a: 1",
  "a: 1\r\nb: two\r\n",
  "name: pdf-processing\ndescription: Extract, fill, and assemble PDF documents\n",
  "a: plain text # comment\nb: not#comment",
  "a: it's a 'test' of \"quotes\"",
  "a: http://example.com/x\nb: a:b",
  "a: one\n  two\n  three\nb: 2",
  "a: one\n\n  two\n\n\n  three\n",
  "a:\n  one\n  two\nb: x",
  "a: 'single ''quoted'' text'\nb: \"double \\\"quoted\\\"\\ttext\\u00e9\\x41\\U0001F600\"",
  "a: \"one\n  two\n\n  three\"\nb: 'x\n  y'",
  'a: "one\\\n  two \\\n  \\ three"\n',
  'a: "trailing  \n  next"\n',
  "a: |\n  one\n   two\n\n  three\nb: 1",
  "a: |-\n  one\n  two\n\nb: 1",
  "a: |+\n  one\n\n\nb: 1",
  "a: |2\n   one\n  two\n",
  "a: >\n  one\n  two\n\n  three\n   deeper\n  back\nb: 1",
  "a: >-\n  one\n  two\n",
  "a: >+\n  one\n\n  two\n\n",
  "a: >\n\n  one\n  two\n",
  "a: |\n\n  one\nb: |\n",
  "a: | # comment\n  text # no comment\n",
  "a:\n  - one\n  - two\nb:\n- three\n- 4\n",
  "a:\n  b:\n    c: 1\n    d: 2\n  e: 3\n",
  "a:\n  - b: 1\n    c: 2\n  - b: 3\n",
  "a:\n  - - 1\n    - 2\n  - - 3\n",
  "a:\n  -\n    b: 1\n  -\n  - x\n",
  "a: [one, 'two', \"three\", 4, true, null, [5], {b: 6}]\n",
  "a: {b: 1, 'c': two, \"d\":3, e: [f, g], h: }\n",
  "a: [\n  one,  # first\n  two,\n]\nb: 1\n",
  "a: []\nb: {}\n",
  "a: { b: c d, e: f\n  g }\n",
  'a: {"name": "x", "list": [1, 2.5, -3e2, null, false]}\n',
  "a:\nb: ~\nc: null\nd: Null\n",
  "a: true\nb: False\nc: yes\nd: no\ne: on\n",
  "a: 1\nb: -2\nc: +3\nd: 0x1F\ne: 0o17\nf: 1.5\ng: .5\nh: 1e3\ni: 1.\nj: 007\n",
  "a: 1.2.3\nb: 2024-01-01\nc: 12:30\nd: 1_000\n",
  "allowed-tools: Bash(git:*) Read\n",
  "'quoted key': 1\n\"other\": 2\nkey with spaces: 3\n",
  "a: -x\nb: ?x\nc: :x\n",
  "# c\na: 1\n\n  # c\nb: 2 # c\n",
  'metadata:\n  author: example-org\n  version: "1.0"\n  tags: [a, b]\nlicense: MIT\n',
  "a: é ü 漢字 😀\n",
  "a: \"\"\nb: ''\n",
  "a: '#no'\nb: \"a: b\"\n",
  "a: x\u00a0# text\nb: \u00a0x\u3000\n",
  "a: x\n\u00a0b: c\n",
  "a: x\n\u3000# text: 1\n",
  "a: [x\u00a0#y, \u00a0z\u3000]\nb: {c:\u00a0d}\n",
  "a: -\u00a0x\nb: ?\u00a0x\nc: 1\u00a0\nd: ~\u00a0\n",
  "a: >-\n  x\n  \u00a0y\n",
  "'a'\t: x\t# comment\nb:\tx\n",
];

/** Characters that readers disagree about: a line break for one, and text, a space or nothing for the next. */
const DISPUTED = [
  "\r",
  "\u0085",
  "\u2028",
  "\u2029",
  "\ufeff",
  "\f",
  "\v",
  "\0",
  "\u001c",
  "\u007f",
  "\ud800",
  "\uffff",
];
/** What JavaScript takes for white space, and YAML does not. */
const NO_SPACE = ["\u00a0", "\u3000", "\u2003", "\u1680"];

/** Texts that are refused, and in which line. */
const REFUSED: readonly [string, number, RegExp][] = [
  ["a: &x 1", 1, /anchors/],
  ["a: 1\nb: *x", 2, /anchors/],
  ["a: !!str 1", 1, /tags/],
  ["<<: {a: 1}", 1, /merge/],
  ["a: 1\na: 2", 2, /twice/],
  ["a: {b: 1, b: 2}", 1, /twice/],
  ["? a\n: b", 1, /expected a key/],
  ["a:\n\tb: 2", 2, /tabs/],
  ["a: b: c", 1, /colon/],
  ["a: one\n  two: three", 2, /colon/],
  ['a: "one', 1, /not closed/],
  ["a: 'one\nb: 2", 1, /not closed/],
  ["a: [1, 2\nb: 3", 1, /./],
  ["a: [1, 2] x", 1, /unexpected text/],
  ['a: "x" y', 1, /unexpected text/],
  ['a: "\\q"', 1, /escape/],
  ['a: "\\UFFFFFFFF"', 1, /escape/],
  ["a: .inf", 1, /JSON/],
  ["a: 1e999", 1, /JSON/],
  ["a: .nan", 1, /JSON/],
  ["a: 1\n...\nb: 2", 2, /document/],
  ["a: @x", 1, /begin/],
  ["a: `x`", 1, /begin/],
  ["a: %x", 1, /begin/],
  ["a: |x\n  y", 1, /block/],
  ["just text", 1, /expected a key/],
  ["- a\n- b", 1, /./],
  ["  a: 1", 1, /indented/],
  ["a:\n    b: 1\n  c: 2", 3, /indentation|key/],
  ["a: [b: 1]", 1, /braces/],
  ["a: [1,, 2]", 1, /missing/],
  ["a: [#x]", 1, /begin/],
  ["a: [|x]", 1, /begin/],
  ["a: 1\n\tx", 2, /tabs/],
  ["a: 1\n\t\n  x", 2, /tabs/],
  ["a: >\n     \n  x", 3, /indented less/],
  ["~: 1", 1, /not text/],
  ["a: {0x10: 1}", 1, /not text/],
  [": 1", 1, /missing/],
  ...DISPUTED.flatMap((character): [string, number, RegExp][] => [
    [`a: x${character}allowed-tools: Bash`, 1, /the character U\+/],
    [`a: 1\n# comment${character} x\nb: 1`, 2, /the character U\+/],
    [`a: 1\n\nb: "x${character}y"`, 3, /the character U\+/],
  ]),
  [`a: ${"[".repeat(100)}`, 1, /deep|closed/],
  [Array.from({ length: 40 }, (_, n) => `${" ".repeat(n)}k:`).join("\n"), 18, /deep/],
];

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

describe("the YAML of frontmatter", () => {
  it.each(SAME)("is read as YAML 1.2 says: %j", (text) => {
    expect(readYaml(text)).toEqual(parse(text) ?? {});
  });

  it("is read back as another library wrote it", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.string({
        maxLength: 200,
        unit: fc.constantFrom("a", "b", " ", "\n", ":", "#", "-", '"', "'", "\\", "\t", "é", ","),
      }),
      fc.constantFrom(
        "",
        "yes",
        "null",
        "1",
        "1.0",
        "- x",
        "a: b",
        "# x",
        "[x]",
        "{x}",
        "|",
        ">",
        "&a",
        "*a",
        "!x",
        "%x",
        "@x",
        "`",
        "---",
        "...",
        "<<x",
      ),
    );
    const key = fc.stringMatching(/^[a-z][a-z0-9 _.-]{0,10}[a-z0-9]$/);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small", maxDepth: 4 },
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    const style = fc.record({
      defaultStringType: fc.constantFrom("PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE", "BLOCK_LITERAL", "BLOCK_FOLDED"),
      lineWidth: fc.constantFrom(0, 20, 80),
      collectionStyle: fc.constantFrom("any", "flow"),
      indent: fc.constantFrom(2, 4),
      indentSeq: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.dictionary(key, tree, { maxKeys: 5, noNullPrototype: true }), style, (value, options) => {
        // There the other library writes some texts in a way that nobody reads back.
        fc.pre(options.collectionStyle !== "flow" || options.defaultStringType !== "PLAIN");
        const written = stringify(value, { ...options, aliasDuplicateObjects: false } as never);
        expect(readYaml(written), written).toEqual(parse(written) ?? {});
      }),
      { numRuns: 500 },
    );
  });

  it("is never taken for something else than another library takes it for", () => {
    const lines = ["\n", "\n  ", "\n    ", "\n- ", "\n  - ", "\na: ", "\nb:", "\n  c: "];
    const marks = [
      "- ",
      "[",
      "]",
      "{",
      "}",
      ", ",
      '"',
      "'",
      "|",
      ">",
      "|-",
      ">+",
      " #",
      "#",
      ":",
      " ",
      "\\n",
      "?",
      "!",
    ];
    const others = [...DISPUTED, ...NO_SPACE, "\r\n", "\t"];
    const part = fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...lines, ...marks, "a: ", "x", "x y", "1", "true", "~") },
      { weight: 2, arbitrary: fc.constantFrom(...others) },
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
        const text = `k: 1\n${parts.join("")}`;
        // They differ on lines of spaces at the end of a block of text.
        fc.pre(!/\n +(?:\n|$)/.test(text));
        const ours = outcome(() => readYaml(text));
        const theirs = outcome(() => parse(text, { logLevel: "error" }));
        if (ours !== undefined && theirs !== undefined) expect(ours, text).toEqual(theirs);
      }),
      { numRuns: 5000 },
    );
  });

  it.each(REFUSED)("is refused with its line: %j", (text, line, message) => {
    const attempt = () => readYaml(text);
    expect(attempt).toThrow(message);
    try {
      attempt();
    } catch (error) {
      expect(error).toMatchObject({ name: "YamlError", line });
    }
  });

  it("has no key that changes the prototype", () => {
    const map = readYaml("__proto__: {polluted: true}\nconstructor: 1\na: {__proto__: {x: 1}}");
    expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
    expect(Object.keys(map)).toEqual(["__proto__", "constructor", "a"]);
    expect((map as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    ["brackets", `a: ${"[x,".repeat(15)}${"1,".repeat(15_000)}`],
    ["quotes", Array.from({ length: 5000 }, (_, n) => `k${n}: "x"\n`).join("")],
    ["empty lines", `a: x\n${"\n".repeat(60_000)}`],
    ["backslashes", `a: "${"\\\\".repeat(30_000)}`],
    ["spaces", `a: x${" ".repeat(60_000)}#`],
    ["quoted spaces", `a: "x${" ".repeat(60_000)}y"`],
    ["quoted spaces before a line break", `a: "x${" ".repeat(60_000)}y\n z"`],
    ["spaces in brackets", `a: [x${" ".repeat(60_000)}y]`],
    ["spaces in a line", `a: x${" ".repeat(60_000)}y\n  z`],
    ["lines", `a: "${"x \n ".repeat(15_000)}"`],
    ["colons", `${":".repeat(60_000)}`],
    ["dashes", `a:\n${"- ".repeat(30_000)}`],
  ])("is read in linear time: %s", (_what, text) => {
    const read = (length: number) => () => {
      try {
        readYaml(text.slice(0, length));
      } catch (error) {
        expect(error).toMatchObject({ name: "YamlError" });
      }
    };
    expect(countSteps(read(text.length))).toBeLessThanOrEqual(50 * text.length);
    // Eight times the length: quadratic work would take 64 times as long.
    expect(growthOf(read(text.length / 8), read(text.length), 32)).toBeLessThanOrEqual(32);
  });
});
