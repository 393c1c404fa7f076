import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { McpError } from "../../protocol/error.js";
import { outerItem, outerResult } from "../../server/mount/mounted-names.js";
import { NameIndex } from "./name-index.js";
import { hostNames, innerUriOf, outerName, uriPrefix } from "./outer-names.js";

/** Names that servers give: mostly plain, some near each other, some hostile. */
const anyName = fc.oneof(
  fc.stringMatching(/^[a-z_-]{1,12}$/),
  fc.stringMatching(/^(a|b|_|__|\.){1,5}$/),
  fc.stringMatching(/^[a-z]{0,3}_[a-z2-7]{10}$/),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 90 }),
);

describe("outer names", () => {
  it("read server__tool wherever that is legal, short and clear", () => {
    expect(outerName("github", "create_issue")).toBe("github__create_issue");
    expect(outerName("my-db", "_private")).toBe("my-db___private");
  });

  it.each([
    ["a.b", "tool"],
    ["a", "tool/x"],
    ["a__b", "c"],
    ["a_", "b"],
    ["", "b"],
    ["a", ""],
    ["a", "x".repeat(58)],
    ["s".repeat(80), "t".repeat(80)],
    ["a", "tool_abcdefghij"],
  ])("of %s and %s end with a digest", (server, name) => {
    expect(outerName(server, name)).toMatch(/^[A-Za-z0-9_-]*__[A-Za-z0-9_-]*_[a-z2-7]{10}$/);
    expect(outerName(server, name).length).toBeLessThanOrEqual(60);
  });

  it("never change: clients and users have written them down", () => {
    expect(outerName("acme.files", "read file")).toBe("acme_files__read_file_i3q3wc33bq");
    expect(uriPrefix("My Files")).toBe("my-files-4oib3j64mn");
  });

  it("keep something of both parts when they are cut", () => {
    expect(outerName("s".repeat(80), "t".repeat(80))).toMatch(/^s{15}__t{32}_/);
    expect(outerName("s", "t".repeat(80))).toMatch(/^s__t{46}_/);
    expect(outerName("s".repeat(80), "t")).toMatch(/^s{46}__t_/);
  });

  it("are distinct, within the limit and the same in any order: 1,000 names on each of 20 servers", () => {
    const distinct = (count: number) => fc.uniqueArray(anyName, { minLength: count, maxLength: count });
    fc.assert(
      fc.property(distinct(20), distinct(1000), fc.integer({ min: 24, max: 64 }), (servers, names, maxLength) => {
        const there = new NameIndex({ maxLength });
        const back = new NameIndex({ maxLength });
        const outer = servers.map((server) => there.replace(server, names));
        for (const server of servers.toReversed()) back.replace(server, names.toReversed());
        expect(there.size).toBe(20_000);
        servers.forEach((server, at) => {
          for (const name of names) {
            const full = outer[at]?.get(name) ?? "";
            if (!/^[A-Za-z0-9_-]+$/.test(full) || full.length > maxLength) throw new Error(`bad name ${full}`);
            for (const index of [there, back]) {
              const found = index.find(full);
              if (found?.server !== server || found.name !== name) throw new Error(`${full} leads elsewhere`);
            }
          }
        });
      }),
      { numRuns: 3 },
    );
  });

  it("of a server that imitates a digest do not take another server's tool", () => {
    const target = outerName("a.b", "tool");
    const imitation = target.slice(target.indexOf("__") + 2);
    expect(outerName("a_b", imitation)).not.toBe(target);
  });

  it("refuse a limit that leaves no room", () => {
    expect(() => outerName("a", "b", { maxLength: 23 })).toThrow(McpError);
    expect(() => outerName("a", "b", { maxlength: 60 } as never)).toThrow(/did you mean "maxLength"/);
  });
});

describe("the index of names", () => {
  it("replaces and removes the names of one server alone", () => {
    const index = new NameIndex();
    index.replace("a", ["x", "y"]);
    index.replace("b", ["x"]);
    index.replace("a", ["z", "z"]);
    expect(["a__x", "a__y", "a__z", "b__x"].map((name) => index.find(name)?.name)).toEqual([
      undefined,
      undefined,
      "z",
      "x",
    ]);
    index.remove("b");
    expect(index.size).toBe(1);
  });

  it("refuses a list without end, and keeps none of it", () => {
    const index = new NameIndex();
    function* endless() {
      for (let count = 0; ; count++) yield `t${count}`;
    }
    index.replace("a", ["x"]);
    expect(() => index.replace("b", endless())).toThrow(/more than 100000 names/);
    expect(index.size).toBe(1);
    expect(index.find("a__x")).toEqual({ server: "a", name: "x" });
  });
});

describe("outer URIs", () => {
  it("lead back to their server, also with the scheme in another case", () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { minLength: 2, maxLength: 20 }), fc.webUrl(), (servers, uri) => {
        for (const server of servers) {
          const outer = hostNames(server, () => true).uri(uri);
          expect(outer).toMatch(/^[a-z][a-z0-9-]{0,31}\+/);
          expect(innerUriOf(servers, outer)).toEqual({ server, uri });
          expect(innerUriOf(servers, outer.slice(0, 1).toUpperCase() + outer.slice(1))).toEqual({ server, uri });
        }
      }),
    );
    expect(innerUriOf(["a"], "b+file:///x")).toBeUndefined();
  });

  it("tell servers apart whose names differ in case alone", () => {
    expect(new Set(["git", "Git", "GIT", "git-"].map(uriPrefix)).size).toBe(4);
  });

  it("are put into items and results", () => {
    const names = hostNames("files", (uri) => uri.startsWith("file:"));
    expect(outerItem(names, { name: "read", uri: "file:///a" })).toEqual({
      name: "files__read",
      uri: "files+file:///a",
    });
    const content = [
      { type: "resource_link", uri: "file:///a", name: "a" },
      { type: "resource_link", uri: "https://example.com", name: "b" },
    ];
    expect(outerResult(names, "tools/call", { content })).toEqual({
      content: [{ type: "resource_link", uri: "files+file:///a", name: "a" }, content[1]],
    });
  });
});
