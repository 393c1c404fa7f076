import type { Tool } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { searchTerms, ToolSearch } from "../../../src/host/catalogue/tool-search.js";
import { SEARCH_QUERIES } from "./search-queries.js";
import { fixtureServer, fixtureTools } from "./tool-fixture.js";

const TOOLS = fixtureTools();
const search = indexOf(TOOLS);

function indexOf(tools: readonly Tool[]): ToolSearch {
  const index = new ToolSearch();
  index.update(tools, fixtureServer);
  return index;
}

const tool = (name: string, description = ""): Tool => ({ name, description, inputSchema: { type: "object" } });
const namesOf = (index: ToolSearch, query: string) => index.search(query, { limit: 100 }).map(({ name }) => name);

describe("a search among 1,000 tools", () => {
  it("finds what is meant: first in 85 of 100 queries, among five in 97, among ten always", () => {
    const places = SEARCH_QUERIES.map(([query, name]) => namesOf(search, query).indexOf(name));
    const recall = (most: number) => places.filter((at) => at >= 0 && at < most).length / places.length;
    console.log(`recall@1 ${recall(1)}, @5 ${recall(5)}, @10 ${recall(10)} of ${places.length} queries`);
    expect(places.length).toBeGreaterThanOrEqual(60);
    expect(recall(1)).toBeGreaterThanOrEqual(0.85);
    expect(recall(5)).toBeGreaterThanOrEqual(0.97);
    expect(recall(10)).toBe(1);
  });

  it("gives names for less than 5 % of the bytes of the tools", () => {
    let [names, full] = [0, 0];
    for (const [query] of SEARCH_QUERIES) {
      names += search
        .search(query, { detail: "name" })
        .map(({ name }) => `${name}\n`)
        .join("").length;
      full += JSON.stringify(search.search(query, { detail: "full" }).map((hit) => hit.tool)).length;
    }
    expect(names / full).toBeLessThan(0.05);
  });

  it("gives the same order whatever the order of the tools, and after changes", () => {
    const other = indexOf(TOOLS.slice(0, 500));
    other.update([...TOOLS].reverse(), fixtureServer);
    other.update(TOOLS.slice(300), fixtureServer);
    other.update(TOOLS.toReversed(), fixtureServer);
    for (const [query] of SEARCH_QUERIES) expect(other.search(query)).toEqual(search.search(query));
  });

  it("keeps to one server", () => {
    expect(namesOf(search, "list")).not.toEqual([]);
    const hits = search.search("list", { server: "jira", limit: 100 });
    expect(new Set(hits.map(({ server }) => server))).toEqual(new Set(["jira"]));
    expect(search.search("list", { server: "nobody" })).toEqual([]);
  });

  it("names its categories", () => {
    const categories = search.categories();
    expect(categories).toHaveLength(40);
    expect(categories[0]).toEqual({
      server: "aws",
      count: 25,
      topics: ["bucket", "iam", "lambda", "queue", "export"],
    });
    expect(categories.every(({ topics }) => topics.length <= 5)).toBe(true);
  });
});

describe("a search", () => {
  it("reads names in every style, with digits, accents and endings", () => {
    expect(searchTerms("createPullRequest")).toEqual(searchTerms("creating pull-requests"));
    expect(searchTerms("HTTPServer2Go")).toEqual(["http", "server", "2", "go"]);
    expect(searchTerms("Café naïve")).toEqual(["caf", "naiv"]);
    expect(searchTerms("copies classes batches boxes statuses planned")).toEqual(
      searchTerms("copy class batch box status plan"),
    );
  });

  it("finds words of scripts without spaces", () => {
    const index = indexOf([tool("a", "天気予報を取得する"), tool("b", "メールを送る")]);
    expect(namesOf(index, "天気")).toEqual(["a"]);
    expect(namesOf(index, "メール")).toEqual(["b"]);
  });

  it("forgives incomplete and misspelt words, not others", () => {
    const index = indexOf([tool("kubernetes_pods"), tool("weather_forecast"), tool("chat")]);
    expect(namesOf(index, "kube")).toEqual(["kubernetes_pods"]);
    expect(namesOf(index, "wether")).toEqual(["weather_forecast"]);
    expect(namesOf(index, "forcasts")).toEqual(["weather_forecast"]);
    expect(namesOf(index, "cat")).toEqual([]);
    expect(namesOf(index, "bicycle")).toEqual([]);
  });

  it("gives as much as it is asked for", () => {
    const read = {
      name: "fs__read",
      description: "Reads a file. At most 1 MB.",
      inputSchema: { type: "object" as const, properties: { path: {}, from: {} }, required: ["path"] },
    };
    const index = indexOf([read]);
    expect(index.search("file", { detail: "name" })).toEqual([
      { name: "fs__read", server: "fs", score: expect.any(Number) },
    ]);
    expect(index.search("file")[0]).toMatchObject({ summary: "Reads a file.", arguments: ["path", "from?"] });
    expect(index.search("file", { detail: "full" })[0]?.tool).toBe(read);
    expect(index.find("fs__read")).toBe(read);
    expect(index.find("fs__write")).toBeUndefined();
  });

  it("reads again only what has changed, and forgets what is gone", () => {
    let reads = 0;
    const counted = (name: string): Tool => ({
      name,
      get description() {
        reads++;
        return `about ${name}`;
      },
      inputSchema: { type: "object" },
    });
    const [a, b, c] = [counted("alpha"), counted("beta"), counted("gamma")];
    const index = indexOf([a, b]);
    const before = reads;
    index.update([a, c], fixtureServer);
    expect(reads - before).toBe(before / 2);
    expect(namesOf(index, "beta")).toEqual([]);
    expect(namesOf(index, "about")).toEqual([]);
    expect(namesOf(index, "gamma")).toEqual(["gamma"]);
    index.update([], fixtureServer);
    expect(index.size).toBe(0);
    expect(namesOf(index, "alpha")).toEqual([]);
  });

  it("finds nothing for nothing, and refuses what it cannot do", () => {
    expect(search.search("")).toEqual([]);
    expect(search.search("the of to")).toEqual([]);
    expect(new ToolSearch().search("anything")).toEqual([]);
    for (const limit of [0, 101, 1.5, Number.NaN]) expect(() => search.search("x", { limit })).toThrow(/from 1 to 100/);
    expect(() => search.search("x", { max: 3 } as never)).toThrow(/not an option/);
    const many = Array.from({ length: 20_001 }, (_, at) => tool(`t${at}`));
    expect(() => new ToolSearch().update(many, fixtureServer)).toThrow(/20000/);
  });

  it("stays bounded under texts that are made to cost", () => {
    const hostile = tool("x", `${"aB1".repeat(100_000)} ${"a".repeat(100_000)}`);
    const index = indexOf([hostile, ...TOOLS]);
    expect(index.search(`${"aB1 ".repeat(100_000)}`).length).toBeLessThanOrEqual(10);
    expect(JSON.stringify(index.search("x", { limit: 1 })).length).toBeLessThan(500);
  });
});
