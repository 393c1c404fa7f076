import { describe, expect, it } from "vitest";
import { talk } from "../../../test/server/talk.js";
import { McpError } from "../../protocol/error.js";
import { resource, resourceTemplate } from "../contract/resource.js";
import { Server } from "../server.js";
import * as content from "../tools/content.js";

const ERAS = ["2025-11-25", "2026-07-28"] as const;
const server = () => new Server({ name: "s", version: "1" });

describe.each(ERAS)("resources in %s", (revision) => {
  const read = async (made: Server, uri: unknown) => (await talk(made, revision)).ask("resources/read", { uri });
  const contents = async (made: Server, uri: string) => {
    const { result, error } = await read(made, uri);
    expect(error).toBeUndefined();
    return result.contents;
  };

  it("are listed with all that they say of themselves (RES-01, RES-02)", async () => {
    const said = {
      name: "notes",
      title: "Notes",
      description: "d",
      mimeType: "text/plain",
      size: 3,
      annotations: { priority: 1 },
      icons: [{ src: "https://example.com/i.png" }],
      _meta: { a: 1 },
    };
    const made = server()
      .resource("note://1", { ...said, cache: { ttlMs: 1 }, watch: () => {} }, () => "")
      .resource("note://2", {}, () => "");
    const { resources } = await (await talk(made, revision)).result("resources/list");
    expect(resources).toEqual([
      { uri: "note://1", ...said },
      { uri: "note://2", name: "note://2" },
    ]);
  });

  it("hold text, bytes, several parts, and what the builder makes (RES-03)", async () => {
    const bytes = new Uint8Array([0, 255, 7]);
    const made = server()
      .resource("t://text", { mimeType: "text/x" }, () => "hi")
      .resource("t://bytes", { mimeType: "image/png" }, async () => bytes)
      .resource("t://parts", { mimeType: "text/plain" }, (uri) => [
        "one",
        { uri: `${uri}/2`, text: "two", mimeType: "text/html", _meta: { m: 1 } },
        { blob: bytes },
        { blob: "AAE=" },
        content.resource("t://other", "three", { mimeType: "text/css" }),
      ])
      .resource("t://none", {}, () => []);
    expect(await contents(made, "t://text")).toEqual([{ uri: "t://text", mimeType: "text/x", text: "hi" }]);
    expect(await contents(made, "t://bytes")).toEqual([{ uri: "t://bytes", mimeType: "image/png", blob: "AP8H" }]);
    expect(await contents(made, "t://parts")).toEqual([
      { uri: "t://parts", mimeType: "text/plain", text: "one" },
      { uri: "t://parts/2", mimeType: "text/html", text: "two", _meta: { m: 1 } },
      { uri: "t://parts", mimeType: "text/plain", blob: "AP8H" },
      { uri: "t://parts", mimeType: "text/plain", blob: "AAE=" },
      { uri: "t://other", mimeType: "text/css", text: "three" },
    ]);
    expect(await contents(made, "t://none")).toEqual([]);
  });

  it("that are missing have the revision's own code and name the URI (RES-04)", async () => {
    const made = server()
      .resource("t://gone", {}, () => undefined)
      .resourceTemplate("t://row/{id}", {}, ({ id }) => {
        if (id !== "1") throw new McpError("resource_not_found", `no row ${id}`, { data: { uri: `t://row/${id}` } });
        return "row";
      });
    const code = revision === "2025-11-25" ? -32002 : -32602;
    for (const uri of ["t://gone", "t://row/2", "x://y", "no uri at all"]) {
      expect((await read(made, uri)).error).toMatchObject({ code, data: { uri } });
    }
    expect((await read(made, 5)).error?.code).toBe(-32602);
    expect((await read(made, undefined)).error?.code).toBe(-32602);
  });

  it("whose handler throws or returns junk fail alone, with -32603 (RES-04)", async () => {
    const made = server()
      .resource("t://throws", {}, () => {
        throw new Error("disk on fire");
      })
      .resource("t://rejects", {}, () => Promise.reject("plain text"))
      // Programs without types return anything.
      .resource("t://junk", {}, () => ({ nothing: true }) as never)
      .resource("t://number", {}, () => 5 as never)
      .resource("t://good", {}, () => "fine");
    for (const uri of ["t://throws", "t://rejects", "t://junk", "t://number"]) {
      const { error } = await read(made, uri);
      expect(error?.code, uri).toBe(-32603);
      expect(error?.message).not.toMatch(/\.ts:/);
    }
    expect((await contents(made, "t://good"))[0].text).toBe("fine");
  });

  it("of one family share a template whose variables the handler gets (RES-02)", async () => {
    const made = server().resourceTemplate(
      "repo://{owner}/{name}{?page,tags*}",
      { name: "repo", mimeType: "text/plain" },
      ({ owner, name, page, tags }, ctx, uri) => JSON.stringify({ owner, name, page, tags, uri, m: ctx.method }),
    );
    const uri = "repo://a%20b/c?tags=x&page=2&tags=y";
    const [found] = await contents(made, uri);
    expect(found).toMatchObject({ uri, mimeType: "text/plain" });
    expect(JSON.parse(found.text)).toEqual({
      owner: "a b",
      name: "c",
      page: "2",
      tags: ["x", "y"],
      uri,
      m: "resources/read",
    });
    const { resourceTemplates } = await (await talk(made, revision)).result("resources/templates/list");
    expect(resourceTemplates).toEqual([
      { uriTemplate: "repo://{owner}/{name}{?page,tags*}", name: "repo", mimeType: "text/plain" },
    ]);
  });

  it("a single resource wins over a family, and an earlier family over a later one", async () => {
    const made = server()
      .resourceTemplate("t://{a}", {}, () => "first family")
      .resourceTemplate("t://{+b}", {}, () => "second family")
      .resource("t://one", {}, () => "single");
    expect((await contents(made, "t://one"))[0].text).toBe("single");
    expect((await contents(made, "t://two"))[0].text).toBe("first family");
    expect((await contents(made, "t://two/three"))[0].text).toBe("second family");
  });

  it("a family may list its members, by URI or by variables; a single resource is listed once", async () => {
    const made = server()
      .resource("t://x/1", { name: "mine" }, () => "")
      .resourceTemplate(
        "t://x/{id}",
        {
          mimeType: "text/plain",
          list: async () => [
            { uri: "t://x/1" },
            { variables: { id: "a b" }, title: "A" },
            { uri: "t://x/3", name: "3" },
          ],
        },
        () => "",
      )
      .resourceTemplate("t://y/{id}", {}, () => "");
    const { resources } = await (await talk(made, revision)).result("resources/list");
    expect(resources).toEqual([
      { uri: "t://x/1", name: "mine" },
      { uri: "t://x/a%20b", name: "t://x/a%20b", title: "A", mimeType: "text/plain" },
      { uri: "t://x/3", name: "3", mimeType: "text/plain" },
    ]);
  });

  it("refuses variables that lead out of their folder, unless the template allows them (RES-06)", async () => {
    const made = server()
      .resourceTemplate("file:///safe/{+path}", {}, () => "read")
      .resourceTemplate("file:///list/{path*}", {}, () => "read")
      .resourceTemplate("file:///free/{+path}", { allowTraversal: true }, ({ path }) => path);
    const bad = [
      "..",
      "../x",
      "a/../../b",
      "%2e%2e/x",
      "%2e%2e%2fx",
      "a/%2E%2E/b",
      "..%5cx",
      "a%5C..",
      "x%00",
      "%252e%252e/x",
    ];
    for (const path of bad) {
      const { error, result } = await read(made, `file:///safe/${path}`);
      expect([-32602, -32002], `${path} → ${JSON.stringify(result)}`).toContain(error?.code);
    }
    for (const path of ["..a", "a..b", "a/b", "%2e"]) {
      expect((await contents(made, `file:///safe/${path}`))[0].text, path).toBe("read");
    }
    expect((await contents(made, "file:///free/a/../b"))[0].text).toBe("a/../b");
  });

  it("may be for some callers only; for others they do not exist, and lists become private", async () => {
    const made = new Server({ name: "s", version: "1" }, { cache: { scope: "public", ttlMs: 9 } })
      .resource("t://open", {}, () => "open")
      .resource("t://secret", { visibleTo: ({ auth }) => auth?.subject === "admin" }, () => "secret")
      .resourceTemplate("t://vault/{id}", { visibleTo: ({ auth }) => auth?.subject === "admin" }, () => "gold");
    const guest = await talk(made, revision);
    const admin = await talk(made, revision, { principal: { key: "a", subject: "admin" } });
    const uris = async (who: typeof guest) =>
      (await who.result("resources/list")).resources.map((found: { uri: string }) => found.uri);
    expect(await uris(guest)).toEqual(["t://open"]);
    expect(await uris(admin)).toEqual(["t://open", "t://secret"]);
    expect((await guest.result("resources/templates/list")).resourceTemplates).toEqual([]);
    for (const uri of ["t://secret", "t://vault/1"]) {
      expect((await guest.ask("resources/read", { uri })).error?.message).toBe(`resource not found: ${uri}`);
      expect((await admin.result("resources/read", { uri })).contents).toHaveLength(1);
    }
    if (revision === "2026-07-28")
      expect(await guest.result("resources/list")).toMatchObject({ cacheScope: "private" });
  });
});

describe("resources at registration", () => {
  it("names are taken once, per kind", () => {
    const made = server()
      .resource("t://a", {}, () => "")
      .resourceTemplate("t://{a}", {}, () => "");
    expect(() => made.resource("t://a", {}, () => "")).toThrow(/resource "t:\/\/a" exists already/);
    expect(() => made.resourceTemplate("t://{a}", {}, () => "")).toThrow(/exists already/);
  });

  it("what is no URI or no template is refused at once, with what to write instead (RES-05)", () => {
    for (const uri of ["", "plain", "a b://c", "t://a b", "t://{x}"]) {
      expect(() => server().resource(uri, {}, () => ""), uri).toThrow(McpError);
    }
    expect(() => server().resource("t://{x}", {}, () => "")).toThrow(
      expect.objectContaining({ fix: expect.stringContaining("resourceTemplate") }),
    );
    for (const template of ["t://{x", "t://x}", "t://{!x}", "t://no-variable", "t://{a b}"]) {
      expect(() => server().resourceTemplate(template, {}, () => ""), template).toThrow(McpError);
    }
    // A name that the compiler would refuse too.
    const stray = { complete: { y: ["1"] } } as object;
    expect(() => server().resourceTemplate("t://{x}", stray, () => "")).toThrow(/no variable "y"/);
  });

  it("values are offered, replaced in place and withdrawn like chained ones", async () => {
    const made = server().add(
      resource("t://a", {}, () => "a"),
      resource("t://b", {}, () => "b"),
      resourceTemplate("t://c/{d}", {}, ({ d }) => d),
    );
    made.replace(resource("t://a", { title: "new" }, () => "A"));
    const client = await talk(made, "2026-07-28");
    expect((await client.result("resources/list")).resources).toEqual([
      { uri: "t://a", name: "t://a", title: "new" },
      { uri: "t://b", name: "t://b" },
    ]);
    expect((await client.result("resources/read", { uri: "t://c/x" })).contents[0].text).toBe("x");
    expect(made.remove("resource", "t://a")).toBe(true);
    expect(made.remove("resource", "t://a")).toBe(false);
    expect(made.remove("resourceTemplate", "t://c/{d}")).toBe(true);
    expect((await client.ask("resources/read", { uri: "t://c/x" })).error?.code).toBe(-32602);
    // A failed replacement leaves the old one.
    expect(() => made.replace(resourceTemplate("t://{", {}, () => ""))).toThrow(McpError);
    expect(() => made.remove("resources" as never, "t://b")).toThrow(/"resources" is not a kind/);
    expect(() => made.add({} as never)).toThrow(/undefined is not a kind/);
  });
});
