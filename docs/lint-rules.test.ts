import { LINT_RULES } from "@parley/mcp/lint";
import { describe, expect, it } from "vitest";
import { region } from "./region.js";

describe("the rules in docs/cli-checks.md", () => {
  it("are those of the library; UPDATE_DOCS=1 renews them", () => {
    const rows = LINT_RULES.map(({ id, severity, summary }) => `| \`${id}\` | ${severity} | ${summary} |\n`);
    const table = `| rule | severity | what it finds |\n|---|---|---|\n${rows.join("")}`;
    expect(region("docs/cli-checks.md", "lint rules", table)).toBe(table);
  });
});
