import { describe, expect, it } from "vitest";
import { type CountTokens, tokenCosts } from "../packages/mcp/test/host/search/token-costs.js";
import { loadPeer, peersInstalled } from "../packages/mcp/test/mounts/peer-packages.js";
import { region } from "./region.js";

describe.skipIf(!peersInstalled)("the tokens in docs/tool-search.md", () => {
  it("are those of the fixture; UPDATE_DOCS=1 renews them", async () => {
    const { countTokens } = await loadPeer<{ countTokens: CountTokens }>("gpt-tokenizer/encoding/o200k_base");
    const costs = [];
    for (const tools of [50, 100, 1000]) costs.push(await tokenCosts(tools, countTokens));
    const said = (figure: number) => figure.toLocaleString("en");
    const rows = costs.map(
      ({ tools, all, three, search, describe: one }) =>
        `| ${said(tools)} | ${said(all)} | ${said(three)} | ${said(search)} | ${said(one)} |\n`,
    );
    const head = "| tools | all tools | the three | a search, ten tools | a definition |\n|---|---|---|---|---|\n";
    const table = head + rows.join("");
    expect(region("docs/tool-search.md", "token costs", table)).toBe(table);
    for (const { three } of costs) expect(three).toBeLessThanOrEqual(1500);
  });
});
