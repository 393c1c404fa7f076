import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { entriesOf, root } from "./entries.js";
import { typeErrorsOf } from "./examples.js";
import { type ApiReference, apiReference } from "./pages.js";

describe("the API reference", () => {
  let reference: ApiReference;
  beforeAll(() => {
    reference = apiReference();
  }, 120_000);

  it("has the pages that `npm run docs:api` writes", () => {
    const folder = join(root, "docs/api");
    const stored = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
    expect([...stored.keys()].sort()).toEqual([...reference.pages.keys()].sort());
    const stale = [...reference.pages].filter(([name, text]) => stored.get(name) !== text).map(([name]) => name);
    expect(stale).toEqual([]);
  });

  it("has a comment for every exported name and every public member", () => {
    expect(reference.undocumented).toEqual([]);
  });

  it("has an example for every exported function and class, or a link to a guide that uses it", () => {
    expect(reference.unexplained).toEqual([]);
  });

  it("has examples in doc comments that compile", () => {
    expect(typeErrorsOf(reference.examples)).toEqual([]);
    expect(typeErrorsOf([{ name: "x", code: 'import { absent } from "@parley/mcp";' }])).toHaveLength(1);
  }, 120_000);

  it("says what every entry is for", () => {
    expect(entriesOf().filter(({ purpose }) => purpose === "")).toEqual([]);
  });

  it("shows overloads, members with their comments, and no private ones", () => {
    const page = reference.pages.get("mcp.md") ?? "";
    const server = /### `Server`\n[\s\S]*?\n### /.exec(page)?.[0] ?? "";
    expect(server.match(/^ {2}tool</gm)?.length ?? 0).toBeGreaterThan(0);
    expect(server).toMatch(/^ {2}\/\*\* \S/m);
    expect(page).not.toContain("#private");
  });

  it("gives examples that the guides run", () => {
    expect(reference.pages.get("mcp.md")).toMatch(/### `connect`\n[\s\S]*?\nExample, from \[/);
  });
});
