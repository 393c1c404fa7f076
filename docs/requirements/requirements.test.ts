import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { readAreas, renderRequirements, testsByRule } from "./requirements-page.js";
import { ruleIds } from "./rule-ids.js";

const page = resolve(import.meta.dirname, "../requirements.md");
const sections = readAreas().flatMap((area) => area.sections);
const ids = sections.flatMap(({ rules }) => Object.keys(rules));

describe("the rules of the specification", () => {
  it("are on their page; `UPDATE_DOCS=1 npx vitest run docs/requirements` writes it", () => {
    if (process.env.UPDATE_DOCS === "1") writeFileSync(page, renderRequirements());
    expect(readFileSync(page, "utf8")).toBe(renderRequirements());
  });

  it("have one id each", () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("are explained where a test names them", () => {
    const unknown = [...testsByRule()].filter(([id]) => !ids.includes(id));
    expect(unknown).toEqual([]);
  });

  it("each have a sentence and a section", () => {
    for (const { name, path, rules } of sections) {
      expect(name).not.toBe("");
      expect(path).toMatch(/^(specification|docs|extensions)\/[\w./-]+(#[\w-]+)?$/);
      for (const [id, text] of Object.entries(rules)) expect(text, id).toMatch(/^[A-Z0-9`].{15,}[.]$/);
    }
  });
});

it("ids are read alone, in lists and in ranges", () => {
  expect([...ruleIds("(HTTP25-13, -14, HTTP25-25)")]).toEqual(["HTTP25-13", "HTTP25-14", "HTTP25-25"]);
  expect([...ruleIds("SSE24-01 to SSE24-03, SUB-7")]).toEqual(["SSE24-01", "SSE24-02", "SSE24-03", "SUB-07"]);
  expect([...ruleIds("CVE-2026-1, SHA-256, TOOL-123x")]).toEqual([]);
});
