// Searches among 1,000 tools by words, with every query of the tests in turn.
import { ToolSearch } from "../../../packages/mcp/src/host/catalogue/tool-search.js";
import { SEARCH_QUERIES } from "../../../packages/mcp/test/host/search/search-queries.js";
import { fixtureServer, fixtureTools } from "../../../packages/mcp/test/host/search/tool-fixture.js";
import { answerRounds, repeatNow } from "../../rounds.mjs";

const search = new ToolSearch();
search.update(fixtureTools(), fixtureServer);

function searchAll(): number {
  for (const [query] of SEARCH_QUERIES) {
    if (search.search(query).length === 0) throw new Error(`nothing was found for ${query}`);
  }
  return SEARCH_QUERIES.length;
}

answerRounds((ms) => repeatNow(ms, 1, searchAll));
