import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { compileMatcher } from "../../src/uri-template/match.js";
import { hasTraversal } from "../../src/uri-template/parse.js";
import { talk } from "../server/talk.js";
import { countSteps, countStepsUntil, growthOf } from "./cost.js";

/** Several passes over the text, and no more for a longer one. */
const MAX_STEPS_PER_CHARACTER = 30;

describe("hostile URIs of 64 KB", () => {
  const hostile: [template: string, uriOf: (size: number) => string][] = [
    ["x{a}{b}{c}{d}{e}{f}", (size) => `x${"a".repeat(size)}`],
    ["x{a}{b}{c}{d}{e}{f}", (size) => `x${"a".repeat(size)}/`],
    ["{a}{b}{c}{d}{e}{f}{g}{h}", (size) => `${"a".repeat(size)}/`],
    ["repo://{+dir}/{+file}.md", (size) => `repo://${"/".repeat(size)}`],
    ["repo://{+dir}/{+file}.md", (size) => `repo://${"/".repeat(size)}.md`],
    ["{+a}/{+b}/{+c}.md", (size) => `${"/.md".repeat(size / 4)}x`],
    ["{+a}x{+b}x{+c}x{+d}x{+e}", (size) => `1x1x1x1x${"y".repeat(size)}`],
    ["x:{/path*}{/more*}{/rest*}", (size) => `x:${"/".repeat(size)}?`],
    ["x:{list*}{more*}", (size) => `x:${",".repeat(size)}`],
    ["x:{a:9999}{b:9999}{c}", (size) => `x:${"a".repeat(size)}`],
    ["x:{a:9999}{b:9999}", (size) => `x:${"%2F".repeat(size / 3)}`],
    ["x:{?a,b*}", (size) => `x:?${"b=&".repeat(size / 3)}`],
    ["x:{a}", (size) => `x:${"%41a".repeat(size / 4)}`],
    ["x:{a}", (size) => `x:${"%2F".repeat(size / 3)}`],
    ["x:{a}", (size) => `x:${"%C3%A9".repeat(size / 6)}`],
    ["x:{a}{b}", (size) => `x:${"😀".repeat(size / 2)}`],
    ["x:{a}", (size) => `x:${"%".repeat(size)}`],
    ["x:{;a}{.b}{/c}{?d}{&e}{#f}", (size) => `x:${";./?&#".repeat(size / 6)}`],
  ];
  for (const [template, uriOf] of hostile) {
    const [small, uri] = [uriOf(8_192), uriOf(65_536)];
    it(`${template} answers for ${uri.slice(0, 16)}… in proportion to its length`, () => {
      const match = compileMatcher(template);
      expect(countSteps(() => match(uri))).toBeLessThanOrEqual(MAX_STEPS_PER_CHARACTER * uri.length);
      // Of eight times the length: a regular expression that backtracks would take 64 times as long, or more.
      const growth = growthOf(
        () => match(small),
        () => match(uri),
        24,
      );
      expect(growth).toBeLessThanOrEqual(24);
    });
  }
});

it("looking for path traversal takes linear time for 64 KB of layers", () => {
  const look = () => {
    hasTraversal("%25".repeat(21_845));
    hasTraversal(`%${"25".repeat(32_768)}`);
    hasTraversal("../".repeat(1).padStart(65_536, "./"));
  };
  expect(countSteps(look)).toBeLessThanOrEqual(3 * 65_536);
});

describe.each(["2025-11-25", "2026-07-28"] as const)("a server in %s", (revision) => {
  it("is kept busy by no URI, whatever its templates are", async () => {
    const server = new Server({ name: "s", version: "1" });
    const templates = [
      "repo://{+dir}/{+file}.md",
      "t://{+a}/{+b}/{+c}",
      "x{a}{b}{c}{d}{e}{f}{g}{h}",
      "q://{a}{?b*,c*}",
      "l://{a*}{/b*}{.c*}",
    ];
    for (const template of templates) server.resourceTemplate(template, {}, () => "");
    const client = await talk(server, revision);
    const half = 32_000;
    const uris = [
      `repo://${"/".repeat(2 * half)}`,
      `repo://${"a/".repeat(half)}.mx`,
      `t://${"/".repeat(half)}\n`,
      `x${"a".repeat(2 * half)}/`,
      `q://a?${"b=1&".repeat(half / 2)}#`,
      `l://${"a,".repeat(half / 2)}${"/b".repeat(half / 2)}?`,
      `t://${"%2e%2e%2f".repeat(7000)}`,
      `t://${"%".repeat(half)}`,
    ];
    for (const uri of uris) {
      const steps = await countStepsUntil(() => client.ask("resources/read", { uri }));
      expect(steps, uri.slice(0, 20)).toBeLessThanOrEqual(templates.length * MAX_STEPS_PER_CHARACTER * uri.length);
    }
  });
});
