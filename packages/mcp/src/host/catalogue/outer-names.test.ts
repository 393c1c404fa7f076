import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { McpError } from "../../protocol/error.js";
import { HostCatalogue } from "./host-catalogue.js";
import { outerName, uriPrefix } from "./outer-names.js";

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
        const tools = names.map((name) => ({ name, inputSchema: { type: "object" as const } }));
        const fill = (order: readonly string[], list: typeof tools) => {
          const catalogue = new HostCatalogue({ maxLength });
          for (const server of order) catalogue.add(server);
          for (const server of order) catalogue.set(server, { tools: list });
          return catalogue;
        };
        const there = fill(servers, tools);
        const back = fill(servers.toReversed(), tools.toReversed());
        expect(there.all("tools")).toHaveLength(20_000);
        for (const server of servers) {
          for (const name of names) {
            const full = outerName(server, name, { maxLength });
            if (!/^[A-Za-z0-9_-]+$/.test(full) || full.length > maxLength) throw new Error(`bad name ${full}`);
            for (const catalogue of [there, back]) {
              const found = catalogue.find("tools", full);
              if (found?.server !== server || found.inner !== name) throw new Error(`${full} leads elsewhere`);
            }
          }
        }
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

describe("outer URIs", () => {
  it("lead back to their server, also with the scheme in another case", () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { minLength: 2, maxLength: 20 }), fc.webUrl(), (servers, uri) => {
        const catalogue = new HostCatalogue();
        for (const server of servers) catalogue.add(server);
        for (const server of servers) {
          const outer = catalogue.names(server)?.uri(uri) ?? "";
          expect(outer).toMatch(/^[a-z][a-z0-9-]{0,31}\+/);
          for (const sent of [outer, outer.slice(0, 1).toUpperCase() + outer.slice(1)]) {
            expect(catalogue.ownerOf(sent)).toMatchObject({ server, inner: uri });
          }
        }
        expect(catalogue.ownerOf("of-nobody-here+file:///x")).toBeUndefined();
      }),
    );
  });

  it("tell servers apart whose names differ in case alone", () => {
    expect(new Set(["git", "Git", "GIT", "git-"].map(uriPrefix)).size).toBe(4);
  });
});
