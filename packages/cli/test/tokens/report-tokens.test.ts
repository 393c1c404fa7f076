import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtureTools } from "../../../mcp/test/host/search/tool-fixture.js";
import { loadTokenizer } from "../../src/tokens/token-counter.js";
import { server } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";

describe("parley tokens", () => {
  const handles: Awaited<ReturnType<typeof serveHttp>>[] = [];
  const url = (at: number) => handles[at]?.url ?? "";
  beforeAll(async () => {
    const many = new Server({ name: "many", version: "1.0.0" });
    for (const { name, description, inputSchema } of fixtureTools(120)) {
      many.tool(name, { description, input: inputSchema }, () => "done");
    }
    const empty = new Server({ name: "empty", version: "1.0.0" });
    for (const one of [server, many, empty]) handles.push(await serveHttp(one, { port: 0 }));
  });
  afterAll(() => Promise.all(handles.map((handle) => handle.close())));

  it("shows each tool, the dearest first, the sum, and the rest of what a server says", async () => {
    const { code, stdout } = await runParley(["tokens", url(0)]);
    expect(code).toBe(0);
    const figures = [...stdout.matchAll(/^ +(\d+) +\d+ % {2}\w+$/gm)].map(([, tokens]) => Number(tokens));
    expect(figures).toHaveLength(7);
    expect(figures).toEqual(figures.toSorted((a, b) => b - a));
    expect(stdout).toContain(`${figures.reduce((a, b) => a + b)}         sum of 7 tools`);
    for (const line of ["instructions", "list of 1 prompt\n", "list of 1 resource\n"]) expect(stdout).toContain(line);
  });

  it("counts a definition as OpenAI receives it", async () => {
    const { stdout } = await runParley(["tokens", url(0), "--json"]);
    const { sum, tools, tokenizer } = JSON.parse(stdout);
    const count = await loadTokenizer();
    const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    const least = count(
      JSON.stringify({ type: "function", name: "echo", description: "Gives the text back", parameters: schema }),
    );
    const echo = tools.find(({ name }: { name: string }) => name === "echo").tokens;
    expect(echo).toBeGreaterThanOrEqual(least);
    expect(echo).toBeLessThan(least + 30);
    expect(tokenizer).toBe("o200k_base");
    expect(sum).toBe(tools.reduce((total: number, { tokens }: { tokens: number }) => total + tokens, 0));
  });

  it("exits with 5 where a budget is exceeded, and only then", async () => {
    const over = await runParley(["tokens", url(0), "--budget", "100"]);
    expect(over.code).toBe(5);
    expect(over.stdout).toMatch(/over the budget of 100 by \d+\n$/);
    const within = await runParley(["tokens", url(0), "--budget", "100000"]);
    expect(within.code).toBe(0);
    expect(within.stdout).toMatch(/within the budget of 100,000, 99,\d+ left\n$/);
    const json = await runParley(["tokens", url(0), "--budget", "100", "--json"]);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([5, { budget: 100, exceeded: true }]);
  });

  it("shows the dearest tools of many, and what the others cost together", async () => {
    const { stdout } = await runParley(["tokens", url(1), "--top", "3"]);
    expect(stdout.match(/__/g)).toHaveLength(3);
    expect(stdout).toContain("117 more tools; --top 120 shows all");
    expect((await runParley(["tokens", url(1)])).stdout.match(/__/g)).toHaveLength(50);
  });

  it("measures code and search against definitions", async () => {
    const { stdout } = await runParley(["tokens", url(1), "--compare"]);
    expect(stdout).toMatch(/\d % less {2}generated code: names of one server/);
    expect(stdout).toMatch(/\d % less {2}search: three tools/);
    const costs = JSON.parse((await runParley(["tokens", url(1), "--compare", "--uses", "4", "--json"])).stdout);
    expect(costs).toMatchObject({ tools: 120, uses: 4 });
    expect(costs.codeByServer).toBeLessThan(costs.code);
    expect(costs.code).toBe(costs.parts.opening + costs.parts.names + 4 * costs.parts.declaration);
    expect(costs.search).toBe(costs.parts.threeTools + 4 * (costs.parts.found + costs.parts.described));
  });

  it("adds up the servers of a file, also where one cannot be reached", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-tokens-"));
    const none = "http://127.0.0.1:1/mcp";
    const file = (servers: object) => writeFileSync(join(folder, "all.json"), JSON.stringify({ mcpServers: servers }));
    const tokens = (...more: string[]) => runParley(["tokens", "--config", "all.json", ...more], { cwd: folder });
    file({ fixture: { url: url(0) }, many: { url: url(1) } });
    const { code, stdout } = await tokens();
    expect(code).toBe(0);
    expect(stdout).toMatch(/120 {2}many\n +346 +7 {2}fixture\n +[\d,]+ +127 {2}sum of 2 servers\n/);
    expect((await tokens("--budget", "500")).code).toBe(5);
    file({ fixture: { url: url(0) }, gone: { url: none } });
    const partly = await tokens();
    expect(partly.code).toBe(3);
    expect(partly.stdout).toMatch(/ +346 +7 {2}fixture\n unknown +gone: .*127\.0\.0\.1:1/);
    expect(JSON.parse((await tokens("--json")).stdout)).toMatchObject({
      sum: 346,
      servers: [
        { server: "fixture", sum: 346 },
        { server: "gone", error: expect.any(String) },
      ],
    });
    file({});
    expect((await tokens()).stderr).toContain("all.json has no servers");
    expect((await tokens("--compare")).code).toBe(2);
    rmSync(folder, { recursive: true });
  });

  it("counts nothing where there is nothing", async () => {
    for (const more of [[], ["--compare"]]) {
      const { code, stderr } = await runParley(["tokens", url(2), ...more]);
      expect([code, stderr]).toEqual([0, ""]);
    }
  });

  it.each([
    [["--budget", "little"], '"little" is not a whole number for --budget'],
    [["--top", "0"], "0 is out of range for --top"],
    [["--tokenizer", "abacus"], "Allowed choices are o200k_base"],
    [["--compare", "--budget", "5"], "--compare and --budget cannot be combined"],
    [["--compare", "--uses", "5000"], "--uses 5000 is too large"],
    [["another"], 'unexpected argument "another"'],
  ])("%j is a wrong command line", async (args, cause) => {
    const { code, stderr } = await runParley(["tokens", url(0), ...args]);
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(2);
  });
});

describe("the tokenizer", () => {
  it("takes special tokens for text, and long words in parts", async () => {
    const count = await loadTokenizer();
    expect(count("hello world")).toBe(2);
    expect(count("")).toBe(0);
    expect(count("<|endoftext|>")).toBeGreaterThan(1);
    for (const unit of ["a", "é", " ", "=", "ab\u0301"]) expect(count(unit.repeat(100_000))).toBeGreaterThan(100);
  });
});
