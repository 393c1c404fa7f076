import { describe, expect, it } from "vitest";
import { type Talk, talk } from "../../../test/server/talk.js";
import { OLD_TEST_SECRET, TEST_SECRET } from "../../../test/test-secrets.js";
import { Server } from "../server.js";

const ERAS = ["2025-11-25", "2026-07-28"] as const;

function manyOfEach(count: number, options = {}): Server {
  const server = new Server({ name: "many", version: "1" }, { pageSize: 3, secret: OLD_TEST_SECRET, ...options });
  for (let n = 0; n < count; n++) {
    server.tool(`t${n}`, {}, () => "");
    server.resource(`item://${n}`, {}, () => "");
    server.resourceTemplate(`family${n}://{x}`, {}, () => "");
    server.prompt(`p${n}`, {}, () => "");
  }
  return server;
}

/** The names of all items, page by page; at most 20 pages. */
async function walk(client: Talk, method: string, member: string): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 20; page++) {
    const result = await client.result(method, cursor === undefined ? {} : { cursor });
    pages.push(result[member].map((item: { name: string }) => item.name));
    cursor = result.nextCursor;
    if (cursor === undefined) return pages;
  }
  throw new Error("the list has no end");
}

const LISTS = [
  ["tools/list", "tools"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
] as const;

describe.each(ERAS)("pages in %s", (revision) => {
  it.each(LISTS)("%s is cut into pages in the order of registration (PAGE-01)", async (method, member) => {
    const client = await talk(manyOfEach(7), revision);
    const pages = await walk(client, method, member);
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
    expect(pages.flat()).toEqual([...new Set(pages.flat())]);
    expect(pages.flat()[6]).toMatch(/6/);
  });

  it("a list that fills its last page has no further one, and without a page size there is one page (PAGE-03)", async () => {
    expect(await walk(await talk(manyOfEach(6), revision), "tools/list", "tools")).toHaveLength(2);
    const whole = await talk(manyOfEach(6, { pageSize: undefined }), revision);
    expect(await walk(whole, "tools/list", "tools")).toHaveLength(1);
  });

  it("refuses every cursor that it did not make for this list (PAGE-04)", async () => {
    const client = await talk(manyOfEach(7), revision);
    const { nextCursor } = await client.result("tools/list");
    const other = (await client.result("prompts/list")).nextCursor;
    const [payload, mac] = nextCursor.split(".");
    const forged = Buffer.from('[6,"t5"]').toString("base64url");
    const bad = ["", "x", "..", payload, `${payload}.`, `.${mac}`, `${forged}.${mac}`, `${nextCursor}A`, other];
    for (const cursor of [...bad, "A".repeat(100_000), 7, null, {}]) {
      expect((await client.ask("tools/list", { cursor })).error?.code, String(cursor).slice(0, 40)).toBe(-32602);
    }
    expect((await client.ask("tools/list", { cursor: nextCursor })).error).toBeUndefined();
  });

  it("goes on at the right place when the list changed between two pages (PAGE-04)", async () => {
    const server = manyOfEach(7);
    const client = await talk(server, revision);
    const { nextCursor } = await client.result("tools/list");
    server.remove("tool", "t0");
    const second = await client.result("tools/list", { cursor: nextCursor });
    expect(second.tools.map((tool: { name: string }) => tool.name)).toEqual(["t3", "t4", "t5"]);
    server.remove("tool", "t2");
    // The item that the cursor names is gone: the place it had counts.
    const again = await client.result("tools/list", { cursor: nextCursor });
    expect(again.tools.map((tool: { name: string }) => tool.name)).toEqual(["t5", "t6"]);
  });

  it("cursors are understood by every process with the secret, also while it is replaced", async () => {
    const { nextCursor } = await (await talk(manyOfEach(7), revision)).result("tools/list");
    const sibling = await talk(manyOfEach(7, { secret: [TEST_SECRET, OLD_TEST_SECRET] }), revision);
    expect((await sibling.result("tools/list", { cursor: nextCursor })).tools).toHaveLength(3);
    const stranger = await talk(manyOfEach(7, { secret: TEST_SECRET }), revision);
    expect((await stranger.ask("tools/list", { cursor: nextCursor })).error?.code).toBe(-32602);
  });

  it("a page is one object until the list changes", async () => {
    const server = manyOfEach(2);
    const results: object[] = [];
    server.use(async (_call, next) => {
      const result = await next();
      results.push(result);
      return result;
    });
    const client = await talk(server, revision);
    results.length = 0;
    await client.result("prompts/list");
    await client.result("prompts/list");
    expect(results[0]).toBe(results[1]);
    server.prompt("new", {}, () => "");
    expect((await client.result("prompts/list")).prompts).toHaveLength(3);
    expect(results[2]).not.toBe(results[0]);
  });
});

describe("cache hints", () => {
  it("are 0 and private unless the server says otherwise (CACHE-01)", async () => {
    const client = await talk(manyOfEach(1), "2026-07-28");
    for (const [method] of LISTS) {
      expect(await client.result(method)).toMatchObject({ ttlMs: 0, cacheScope: "private" });
    }
  });

  it("can be given for everything, for one list and for one resource (CACHE-01)", async () => {
    const server = manyOfEach(1, {
      cache: { ttlMs: 5, scope: "public", prompts: { ttlMs: 60_000 }, read: { ttlMs: 1 } },
    });
    server.resource("item://kept", { cache: { ttlMs: 99, scope: "private" } }, () => "x");
    const client = await talk(server, "2026-07-28");
    expect(await client.result("tools/list")).toMatchObject({ ttlMs: 5, cacheScope: "public" });
    expect(await client.result("prompts/list")).toMatchObject({ ttlMs: 60_000, cacheScope: "public" });
    expect(await client.result("server/discover")).toMatchObject({ ttlMs: 5, cacheScope: "public" });
    expect(await client.result("resources/read", { uri: "item://0" })).toMatchObject({
      ttlMs: 1,
      cacheScope: "public",
    });
    expect(await client.result("resources/read", { uri: "item://kept" })).toMatchObject({
      ttlMs: 99,
      cacheScope: "private",
    });
  });

  it("do not exist in older revisions", async () => {
    const client = await talk(manyOfEach(1, { cache: { ttlMs: 5 } }), "2025-11-25");
    expect(await client.result("tools/list")).not.toHaveProperty("ttlMs");
  });

  it("are refused when the server is made, if clients could not use them", () => {
    for (const ttlMs of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => new Server({ name: "s", version: "1" }, { cache: { tools: { ttlMs } } })).toThrow(/cache\.tools/);
    }
    for (const pageSize of [0, -1, 2.5, Number.NaN]) {
      expect(() => new Server({ name: "s", version: "1" }, { pageSize })).toThrow(/pageSize/);
    }
  });
});
