import { describe, expect, it } from "vitest";
import { isPartOf } from "../contract/cache.js";
import { changeFor, changesOf, covers, filterOf, intersectionOf, servable, unionOf } from "./subscription-filter.js";

describe("what a subscription wants", () => {
  it("becomes the wire's filter, without what is not wanted and without doubles", () => {
    expect(filterOf({})).toEqual({});
    expect(filterOf({ tools: false, resources: [] })).toEqual({});
    expect(filterOf({ tools: true, prompts: true, resourceList: true, resources: ["a", "b", "a"] })).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ["a", "b"],
    });
    expect(filterOf({ resources: "a" })).toEqual({ resourceSubscriptions: ["a"] });
  });

  it("joins, cuts and compares", () => {
    const a = filterOf({ tools: true, resources: "x" });
    const b = filterOf({ prompts: true, resources: ["x", "y"] });
    expect(unionOf([a, b])).toEqual(filterOf({ tools: true, prompts: true, resources: ["x", "y"] }));
    expect(intersectionOf(a, b)).toEqual(filterOf({ resources: "x" }));
    expect(covers(unionOf([a, b]), a)).toBe(true);
    expect(covers(a, b)).toBe(false);
    expect(covers({}, {})).toBe(true);
  });

  it("is held against what the server can do", () => {
    const all = filterOf({ tools: true, prompts: true, resourceList: true, resources: "x" });
    expect(servable(all, { tools: { listChanged: true }, resources: { subscribe: false } })).toEqual({
      toolsListChanged: true,
    });
    expect(servable(all, { resources: { subscribe: true } })).toEqual({ resourceSubscriptions: ["x"] });
  });

  it("tells one possible change for each part", () => {
    expect(changesOf(filterOf({ tools: true, resources: ["x", "y"] }))).toHaveLength(3);
  });

  it("admits only the notifications it asked for", () => {
    const filter = filterOf({ tools: true, resources: "file:///a" });
    expect(changeFor(filter, "notifications/tools/list_changed", undefined)).toEqual({ kind: "tools", missed: false });
    expect(changeFor(filter, "notifications/prompts/list_changed", undefined)).toBeUndefined();
    expect(changeFor(filter, "notifications/resources/updated", "file:///a#1")).toMatchObject({ uri: "file:///a#1" });
    expect(changeFor(filter, "notifications/resources/updated", 7)).toBeUndefined();
    expect(changeFor(filter, "notifications/message", undefined)).toBeUndefined();
  });

  const parts: [uri: string, whole: string, within: boolean][] = [
    ["file:///a", "file:///a", true],
    ["file:///a/b", "file:///a", true],
    ["file:///a/b", "file:///a/", true],
    ["file:///a?x", "file:///a", true],
    ["file:///ab", "file:///a", false],
    ["file:///", "file:///a", false],
  ];
  for (const [uri, whole, within] of parts) {
    it(`${uri} lies ${within ? "within" : "outside"} ${whole}`, () => expect(isPartOf(uri, whole)).toBe(within));
  }
});
