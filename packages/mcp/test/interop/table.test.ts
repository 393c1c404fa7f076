import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PEER_CLIENTS } from "./client-rows.js";
import { expectedOf, rowsOf, titleOf } from "./matrix.js";
import { PEER_SERVERS } from "./server-rows.js";
import { interopPage } from "./table.js";

const page = new URL("../../../../docs/interop.md", import.meta.url);
const peers = JSON.parse(readFileSync(new URL("../peers/package.json", import.meta.url), "utf8")) as {
  dependencies: Record<string, string>;
};
const versionOf = (name: string) => peers.dependencies[name] ?? "";
const rows = [
  ...PEER_SERVERS.flatMap((peer) => rowsOf(peer, "server")),
  ...PEER_CLIENTS.flatMap((peer) => rowsOf(peer, "client")),
];

describe("the table of interoperability", () => {
  it("is the one in the docs", () => {
    const made = interopPage(versionOf);
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, made);
    expect(existsSync(page) ? readFileSync(page, "utf8") : "").toBe(made);
  });

  it("has one row for each peer, role, transport and revision, and every row can at least connect, list and call", () => {
    const titles = rows.map(titleOf);
    expect(new Set(titles).size).toBe(titles.length);
    for (const row of rows)
      expect(expectedOf(row), titleOf(row)).toEqual(expect.arrayContaining(["connect", "list", "call"]));
  });

  it("names a reason for every cell that is left out", () => {
    for (const row of rows) for (const reason of Object.values(row.lacks)) expect(reason).toMatch(/.{15,}/);
  });
});
