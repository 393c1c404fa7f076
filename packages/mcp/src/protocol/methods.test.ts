import { describe, expect, it } from "vitest";
import { checkMetaKey } from "./meta.js";
import { CORE_METHODS, CORE_TABLE, MethodTable } from "./methods.js";
import { featuresOf, REVISIONS, revisionsOf } from "./revisions.js";

describe("the method table", () => {
  it("has one row per method and takes rows of extensions, but not twice", () => {
    expect(new Set(CORE_METHODS.map(({ method }) => method)).size).toBe(CORE_METHODS.length);
    const row = { method: "x/do", kind: "request", sender: "client", first: "2026-07-28", nameField: "id" } as const;
    expect(new MethodTable([row]).at("x/do", "2026-07-28")).toBe(row);
    expect(() => new MethodTable([row, row])).toThrow("x/do");
    expect(() => new MethodTable([{ ...row, method: "tools/call" }])).toThrow("tools/call");
  });

  it("knows which messages exist in which revision", () => {
    const has = (method: string) => REVISIONS.map((revision) => CORE_TABLE.at(method, revision) !== undefined);
    expect(has("initialize")).toEqual([true, true, true, true, false]);
    expect(has("ping")).toEqual([true, true, true, true, false]);
    expect(has("server/discover")).toEqual([false, false, false, false, true]);
    expect(has("elicitation/create")).toEqual([false, false, true, true, false]);
    expect(has("notifications/elicitation/complete")).toEqual([false, false, false, true, false]);
    expect(has("tools/call")).toEqual([true, true, true, true, true]);
    expect(has("toString")).toEqual([false, false, false, false, false]);
  });

  it("lets only three methods ask (MRTR-01)", () => {
    expect(CORE_METHODS.filter(({ mayAsk }) => mayAsk).map(({ method }) => method)).toEqual([
      "tools/call",
      "resources/read",
      "prompts/get",
    ]);
  });
});

describe("revisions", () => {
  it("belong to two eras, and batches to one of them only (BASE-12, BASE-13)", () => {
    expect(revisionsOf("stateless")).toEqual(["2026-07-28"]);
    expect(revisionsOf("stateful")[0]).toBe("2025-11-25");
    expect(REVISIONS.filter((revision) => featuresOf(revision).batch)).toEqual(["2025-03-26"]);
  });
});

describe("a _meta key", () => {
  it("is judged by prefix and name (BASE-28, BASE-29)", () => {
    for (const key of ["a", "com.example/x", "com.example.mcp/x", "x-y_z.1", "", "mcp/x", "a.b-c/"])
      expect([key, checkMetaKey(key)]).toEqual([key, "free"]);
    for (const key of ["io.modelcontextprotocol/x", "dev.mcp/", "com.mcp.tools/x"])
      expect([key, checkMetaKey(key)]).toEqual([key, "reserved"]);
    for (const key of ["-a", "a-", "1a/x", "a./x", "/x", "a b", "a/b/c", "ü"])
      expect([key, checkMetaKey(key)]).toEqual([key, "malformed"]);
  });
});
