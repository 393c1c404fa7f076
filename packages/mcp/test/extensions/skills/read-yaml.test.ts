import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readYaml } from "../../../src/extensions/skills/yaml/read-yaml.js";

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
];

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
  ["a:\n    b: 1\n  c: 2", 3, /indented|key/],
  ["a: [b: 1]", 1, /braces/],
  [`a: ${"[".repeat(100)}`, 1, /deep|closed/],
  [Array.from({ length: 40 }, (_, n) => `${" ".repeat(n)}k:`).join("\n"), 18, /deep/],
];

describe("the YAML of frontmatter", () => {
  it.each(SAME)("is read as YAML 1.2 says: %j", (text) => {
    expect(readYaml(text)).toEqual(parse(text) ?? {});
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
    ["lines", `a: "${"x \n ".repeat(15_000)}"`],
    ["colons", `${":".repeat(60_000)}`],
    ["dashes", `a:\n${"- ".repeat(30_000)}`],
  ])("is read in linear time: %s", (_what, text) => {
    const begun = performance.now();
    try {
      readYaml(text);
    } catch (error) {
      expect(error).toMatchObject({ name: "YamlError" });
    }
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});
