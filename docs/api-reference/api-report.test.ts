import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { apiReport, reportChanges } from "./api-report.js";
import { root } from "./entries.js";

const folder = join(root, "docs/api-report");
const ACCEPT = "UPDATE_API=1 npx vitest run docs/api-reference/api-report.test.ts";

describe("the public API", () => {
  let report: Map<string, string>;
  beforeAll(() => {
    report = apiReport();
    if (process.env["UPDATE_API"] !== "1") return;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (const [name, text] of report) writeFileSync(join(folder, name), text);
  }, 120_000);

  it("is the committed one", () => {
    const stored = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
    const files = [...new Set([...stored.keys(), ...report.keys()])].sort();
    const changes = files.flatMap((name) => reportChanges(name, stored.get(name) ?? "", report.get(name) ?? ""));
    const advice = `The public API has changed:\n${changes.join("\n")}\nTo accept this as a decision, run ${ACCEPT}, commit docs/api-report and add a line to CHANGELOG.md. A removed or changed name breaks programs.`;
    expect(changes, advice).toEqual([]);
  });

  it("has a report for every entry, with overloads, members of namespaces and types that only signatures name", () => {
    const main = report.get("mcp.txt") ?? "";
    expect([...report.keys()]).toEqual(expect.arrayContaining(["mcp.txt", "node.txt", "redis.txt", "inspector.txt"]));
    expect(main).toContain("export type class Client<");
    expect(main).toMatch(/^export namespace content \{\n {2}function \w+\(/m);
    expect(main).toMatch(/^interface ContextClient /m);
    expect(main).not.toContain("/**");
    expect(report.get("http.txt")).toMatch(/^export type \w+ from @parley\/mcp$/m);
  });

  it("names what was added, removed and changed", () => {
    const before = "entry\n\nexport interface Kept {\n    a: string;\n}\n\nexport function gone(): void;\n";
    const after = before.replace("string", "number").replace("function gone", "class New");
    expect(reportChanges("x.txt", before, after)).toEqual([
      "x.txt: changed Kept",
      "x.txt: added New",
      "x.txt: removed gone",
    ]);
    expect(reportChanges("x.txt", before, before)).toEqual([]);
  });
});
