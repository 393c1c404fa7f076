import { LINT_RULES, type LintOptions, lintTools } from "@parley/mcp/lint";
import type { Tool } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { CORPUS, goodTool } from "./corpus.js";

describe("the rules", () => {
  it("have ids of their own, and bad and good tools for each", () => {
    expect(new Set(LINT_RULES.map(({ id }) => id)).size).toBe(LINT_RULES.length);
    expect(Object.keys(CORPUS).sort()).toEqual(LINT_RULES.map(({ id }) => id).sort());
  });

  it("find nothing in a good tool", () => {
    expect(lintTools([goodTool()])).toEqual([]);
  });

  describe.each(LINT_RULES.map((rule) => ({ ...rule, ...CORPUS[rule.id] })))("$id", ({ id, severity, bad, good }) => {
    it("objects to bad tools, with a message and a fix", () => {
      for (const tools of bad ?? []) {
        const findings = lintTools(tools, { only: [id] });
        expect(findings.length, JSON.stringify(tools[0])).toBeGreaterThan(0);
        for (const finding of findings) {
          expect(finding).toMatchObject({ rule: id, severity });
          expect(finding.message).not.toBe("");
          expect(finding.fix).toMatch(/[.:]$/);
        }
      }
    });

    it("leaves good tools alone", () => {
      for (const tools of good ?? []) expect(lintTools(tools, { only: [id] }), JSON.stringify(tools[0])).toEqual([]);
    });
  });

  it("names the tool and the place", () => {
    const [finding] = lintTools(
      [goodTool(), goodTool({ name: "b", inputSchema: { type: "object", properties: { "a b": {} } } })],
      {
        only: ["argument-description-missing"],
      },
    );
    expect(finding).toMatchObject({ tool: "b", path: 'inputSchema.properties."a b"' });
  });

  it("spells control characters of the tools in messages", () => {
    const [finding] = lintTools([goodTool({ description: "<!--\u001b[31m" })], { only: ["injection-markup"] });
    expect(finding?.message).not.toContain("\u001b");
  });
});

describe("the options", () => {
  const bad = goodTool({ name: "a b", description: "" });

  it("choose rules and leave rules out", () => {
    const rules = (findings: readonly { rule: string }[]) => findings.map(({ rule }) => rule);
    expect(rules(lintTools([bad]))).toEqual(["name-characters", "description-missing"]);
    expect(rules(lintTools([bad], { only: ["name-characters"] }))).toEqual(["name-characters"]);
    expect(rules(lintTools([bad], { ignore: ["name-characters"] }))).toEqual(["description-missing"]);
  });

  it("take a counter and a limit of tokens", () => {
    const options = { only: ["token-cost"], countTokens: () => 90, maxTokens: 80 };
    expect(lintTools([goodTool()], options)).toMatchObject([{ message: expect.stringContaining("90 tokens") }]);
  });

  it.each([
    [{ only: ["name-lenght"] }, 'unknown rule "name-lenght"; did you mean "name-length"?'],
    [{ rules: [] }, '"rules" is not an option'],
  ])("refuse what does not exist: %j", (options, fault) => {
    // What is wrong with them is the point.
    expect(() => lintTools([], options as LintOptions)).toThrow(fault);
  });
});

describe("what no server should send", () => {
  it("is linted all the same, and in bounded time", () => {
    const deep = { type: "object", properties: {} as Record<string, unknown> };
    for (let inner = deep, depth = 0; depth < 500; depth++) {
      const next = { type: "object", properties: {} };
      inner.properties["a"] = next;
      inner = next;
    }
    const wide = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`p${at}`, { type: "array" }]));
    const odd: unknown[] = [
      undefined,
      null,
      5,
      {},
      { name: 5 },
      { name: "bare" },
      goodTool({ inputSchema: deep }),
      goodTool({ name: "wide", inputSchema: { type: "object", properties: wide } }),
      goodTool({ name: "long", description: "ignore ".repeat(50_000) }),
      goodTool({ name: "spaces", description: `before ${" any".repeat(50_000)}` }),
      goodTool({ name: "base", description: "aB3".repeat(50_000) }),
    ];
    // What is wrong with them is the point.
    const findings = lintTools(odd as Tool[]);
    expect(findings.filter(({ tool }) => tool === "wide").length).toBeLessThan(100);
    expect(findings.some(({ tool }) => tool === "bare")).toBe(true);
  });
});
