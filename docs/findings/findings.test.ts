import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { MUTANTS } from "../../packages/mcp/test/mutants/all-mutants.js";
import { ALL_IDS, readFindings } from "./all-findings.js";
import { findingsPage } from "./findings-page.js";

const root = resolve(import.meta.dirname, "../..");
const findings = readFindings();
const mutants = new Set(MUTANTS.map(({ name }) => name));

describe("the findings", () => {
  it("are listed once each", () => {
    const ids = findings.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !ALL_IDS.includes(id))).toEqual([]);
  });

  it("are all in the table", () => {
    const recorded = new Set(findings.map(({ id }) => id));
    expect(ALL_IDS.filter((id) => !recorded.has(id))).toEqual([]);
  });

  it("are left as they are in 25 cases at most, each with its reason", () => {
    const left = findings.filter((finding) => finding.not !== undefined);
    expect(left.length).toBeLessThanOrEqual(25);
    for (const { not } of left) expect(not?.length).toBeGreaterThan(40);
  });

  it.each(findings.map((finding) => [finding.id, finding] as const))(
    "%s is held by a test that exists",
    (_id, finding) => {
      if (finding.not !== undefined) return;
      expect(finding.tests?.length ?? 0).toBeGreaterThan(0);
      for (const test of finding.tests ?? []) {
        const [path = "", title = ""] = test.split(" › ");
        expect(existsSync(join(root, path)), path).toBe(true);
        expect(readFileSync(join(root, path), "utf8"), test).toContain(title);
      }
      for (const name of finding.mutants ?? []) expect(mutants.has(name), name).toBe(true);
      if (finding.weight !== "low")
        expect((finding.mutants?.length ?? 0) > 0 || finding.noMutant !== undefined).toBe(true);
    },
  );

  it("are on the page", () => {
    const page = join(root, "docs/internals/findings.md");
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, findingsPage(findings));
    expect(readFileSync(page, "utf8")).toBe(findingsPage(findings));
  });
});
