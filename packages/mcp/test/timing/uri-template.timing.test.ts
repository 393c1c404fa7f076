import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { compileMatcher } from "../../src/uri-template/match.js";
import { hasTraversal } from "../../src/uri-template/parse.js";
import { talk } from "../server/talk.js";
import { cpuTime, leastTime } from "./cost.js";

describe("hostile URIs of 64 KB", () => {
  const size = 65_536;
  const hostile: [template: string, uri: string][] = [
    ["x{a}{b}{c}{d}{e}{f}", `x${"a".repeat(size)}`],
    ["x{a}{b}{c}{d}{e}{f}", `x${"a".repeat(size)}/`],
    ["{a}{b}{c}{d}{e}{f}{g}{h}", `${"a".repeat(size)}/`],
    ["repo://{+dir}/{+file}.md", `repo://${"/".repeat(size)}`],
    ["repo://{+dir}/{+file}.md", `repo://${"/".repeat(size)}.md`],
    ["{+a}/{+b}/{+c}.md", `${"/.md".repeat(size / 4)}x`],
    ["{+a}x{+b}x{+c}x{+d}x{+e}", `1x1x1x1x${"y".repeat(size)}`],
    ["x:{/path*}{/more*}{/rest*}", `x:${"/".repeat(size)}?`],
    ["x:{list*}{more*}", `x:${",".repeat(size)}`],
    ["x:{a:9999}{b:9999}{c}", `x:${"a".repeat(size)}`],
    ["x:{a:9999}{b:9999}", `x:${"%2F".repeat(size / 3)}`],
    ["x:{?a,b*}", `x:?${"b=&".repeat(size / 3)}`],
    ["x:{a}", `x:${"%41a".repeat(size / 4)}`],
    ["x:{a}", `x:${"%2F".repeat(size / 3)}`],
    ["x:{a}", `x:${"%C3%A9".repeat(size / 6)}`],
    ["x:{a}{b}", `x:${"😀".repeat(size / 2)}`],
    ["x:{a}", `x:${"%".repeat(size)}`],
    ["x:{;a}{.b}{/c}{?d}{&e}{#f}", `x:${";./?&#".repeat(size / 6)}`],
  ];
  for (const [template, uri] of hostile) {
    it(`${template} answers for ${uri.slice(0, 16)}… within 5 ms`, () => {
      const match = compileMatcher(template);
      // The first rounds pay for compiled code.
      for (let round = 0; round < 3; round++) match(uri);
      expect(leastTime(() => match(uri), 5, 60)).toBeLessThanOrEqual(5);
    });
  }
});

it("looking for path traversal takes linear time for 64 KB of layers", () => {
  const look = () => {
    hasTraversal("%25".repeat(21_845));
    hasTraversal(`%${"25".repeat(32_768)}`);
    hasTraversal("../".repeat(1).padStart(65_536, "./"));
  };
  expect(leastTime(look, 50)).toBeLessThan(50);
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
      const before = cpuTime();
      await client.ask("resources/read", { uri });
      // Far above what it takes, and far below what a backtracking matcher takes.
      expect(cpuTime() - before, uri.slice(0, 20)).toBeLessThan(500);
    }
  });
});
