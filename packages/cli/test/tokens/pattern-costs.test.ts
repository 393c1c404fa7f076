import { describe, expect, it } from "vitest";
import { region } from "../../../../docs/region.js";
import { SEARCH_QUERIES } from "../../../mcp/test/host/search/search-queries.js";
import { fixtureTools } from "../../../mcp/test/host/search/tool-fixture.js";
import { patternCosts, savedPercent } from "../../src/tokens/pattern-costs.js";
import { loadTokenizer } from "../../src/tokens/token-counter.js";

/** Sizes of the catalogue, and how many of its tools a task uses. */
const MEASURED = [
  [50, 1],
  [100, 1],
  [1_000, 1],
  [1_000, 3],
  [1_000, 10],
] as const;

describe("the costs in docs/cli-tokens.md", () => {
  it("are those of the fixture (E10); UPDATE_DOCS=1 renews them", async () => {
    const count = await loadTokenizer();
    const queries = SEARCH_QUERIES.map(([query]) => query);
    const withCommas = (figure: number) => figure.toLocaleString("en");
    let table =
      "| tools | used | all definitions | code, all names | code, one server's names | search |\n|---|---|---|---|---|---|\n";
    for (const [size, uses] of MEASURED) {
      const { direct, code, codeByServer, search } = await patternCosts(fixtureTools(size), count, { uses, queries });
      const cell = (cost: number) => `${withCommas(cost)} (${savedPercent(cost, direct).toFixed(1)} % less)`;
      table += `| ${withCommas(size)} | ${uses} | ${withCommas(direct)} | ${cell(code)} | ${cell(codeByServer)} | ${cell(search)} |\n`;
    }
    expect(region("docs/cli-tokens.md", "pattern costs", table)).toBe(table);
  });
});
