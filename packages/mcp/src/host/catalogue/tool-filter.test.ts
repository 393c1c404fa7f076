import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Tool } from "../../protocol/features/tools.js";
import { NamePatterns, ToolFilter, type ToolTransform } from "./tool-filter.js";

const tool = (name: string, properties: Record<string, unknown> = {}, rest: object = {}): Tool => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: "object", properties, ...rest },
});
const TOOLS = [tool("read_file"), tool("read_folder"), tool("write_file"), tool("delete")];
const namesOf = (options: ConstructorParameters<typeof ToolFilter>[0]) =>
  new ToolFilter(options).apply("fs", TOOLS).tools.map(({ name }) => name);
const applied = (transform: ToolTransform, tools = TOOLS) => new ToolFilter({ transform }).apply("fs", tools);

describe("allow and deny", () => {
  it.each([
    [{}, ["read_file", "read_folder", "write_file", "delete"]],
    [{ allow: ["read_*"] }, ["read_file", "read_folder"]],
    [{ allow: ["*_file", "delete"] }, ["read_file", "write_file", "delete"]],
    [{ deny: ["delete", "w*e"] }, ["read_file", "read_folder"]],
    [{ allow: ["*"], deny: ["*"] }, []],
    [{ allow: [] }, []],
    [{ allow: ["read_file"], deny: ["read_file"] }, []],
  ])("%j shows %j", (options, expected) => {
    expect(namesOf(options)).toEqual(expected);
  });

  it("agree with a regular expression, for all patterns and names", () => {
    const text = fc.stringMatching(/^[ab*]{1,8}$/);
    fc.assert(
      fc.property(text, fc.stringMatching(/^[ab]{0,10}$/), (pattern, name) => {
        const expected = new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(name);
        expect(new NamePatterns("allow", [pattern]).matches(name)).toBe(expected);
      }),
    );
  });

  it("name patterns that match nothing", () => {
    const { unused } = new ToolFilter({ allow: ["read_*", "list_*"], deny: ["rm", "delete"] }).apply("fs", TOOLS);
    expect(unused).toEqual(["list_*", "rm"]);
  });

  it.each([[{ allow: "read" }], [{ deny: [""] }], [{ deny: [1] }], [{ transform: 1 }], [{ alow: [] }]])(
    "refuse %j",
    (options) => {
      expect(() => new ToolFilter(options as never)).toThrow(expect.objectContaining({ kind: "invalid_definition" }));
    },
  );

  it("hidden tools cannot be called", () => {
    const filtered = new ToolFilter({ deny: ["delete"] }).apply("fs", TOOLS);
    expect(() => filtered.innerCall("delete", {})).toThrow(/unknown tool: delete/);
    expect(filtered.innerCall("read_file", { a: 1 })).toEqual({ name: "read_file", args: { a: 1 } });
  });
});

describe("a transform", () => {
  it("renames, describes anew and hides; the old name cannot be called", () => {
    const filtered = applied((one, server) => {
      if (one.name === "delete") return undefined;
      one.description = `${server}: ${one.description}`;
      return { ...one, name: one.name.replace("read_", "get_") };
    });
    expect(filtered.tools.map(({ name }) => name)).toEqual(["get_file", "get_folder", "write_file"]);
    expect(filtered.tools[0]?.description).toBe("fs: does read_file");
    expect(TOOLS[0]?.description).toBe("does read_file");
    expect(filtered.innerCall("get_file", undefined)).toEqual({ name: "read_file", args: undefined });
    expect(() => filtered.innerCall("read_file", {})).toThrow(/unknown tool/);
    expect(() => filtered.innerCall("delete", {})).toThrow(/unknown tool/);
  });

  const QUERY = tool(
    "query",
    { sql: { type: "string" }, db: { enum: ["live", "test"] }, debug: { type: "boolean" } },
    {
      required: ["sql", "db"],
      dependentRequired: { debug: ["sql"], sql: ["db"] },
      anyOf: [{ required: ["db"] }, { required: ["sql"] }],
      additionalProperties: false,
    },
  );

  it("fixes and hides arguments: they leave the schema, and their values are in every call", () => {
    const filtered = applied((one) => ({ tool: one, fixed: { db: "test" }, hidden: ["debug"] }), [QUERY]);
    expect(filtered.tools[0]?.inputSchema).toEqual({
      type: "object",
      properties: { sql: { type: "string" } },
      required: ["sql"],
      dependentRequired: { sql: [] },
      anyOf: [{ required: [] }, { required: ["sql"] }],
      additionalProperties: false,
    });
    expect(filtered.innerCall("query", { sql: "x" })).toEqual({ name: "query", args: { sql: "x", db: "test" } });
    for (const args of [{ db: "live" }, { db: "test" }, { debug: true }]) {
      expect(() => filtered.innerCall("query", args)).toThrow(/has no argument/);
    }
  });

  it.each<[string, () => unknown]>([
    ["no argument", () => ({ tool: QUERY, fixed: { table: 1 } })],
    ["no argument to hide", () => ({ tool: QUERY, hidden: ["table"] })],
    ["a value that is not valid", () => ({ tool: QUERY, fixed: { db: "prod" } })],
    ["a required argument without a value", () => ({ tool: QUERY, hidden: ["db"] })],
    ["no name", () => ({ ...QUERY, name: "" })],
    ["no schema", () => ({ name: "x" })],
    ["no object", () => 1],
    ["a promise", async () => QUERY],
    ["a rejected promise", () => Promise.reject(new Error("no"))],
    ["an unknown member", () => ({ tool: QUERY, fix: {} })],
    ["a description that is no text", () => ({ ...QUERY, description: 1 })],
    [
      "an error",
      () => {
        throw new Error("boom");
      },
    ],
  ])("that gives %s hides that tool alone, and says why", (_what, give) => {
    const broken: ToolTransform = (one) => (one.name === "query" ? (give() as Tool) : one);
    const filtered = applied(broken, [...TOOLS, QUERY]);
    expect(filtered.tools).toHaveLength(4);
    expect(filtered.problems).toEqual([expect.objectContaining({ kind: "invalid_definition" })]);
    expect(filtered.problems[0]?.message).toMatch(/^the tool "query" is hidden: /);
    expect(() => filtered.innerCall("query", {})).toThrow(/unknown tool/);
  });

  it("that gives two tools one name keeps the first", () => {
    const filtered = applied((one) => ({ ...one, name: "same" }));
    expect(filtered.tools).toHaveLength(1);
    expect(filtered.problems).toHaveLength(3);
    expect(filtered.innerCall("same", {}).name).toBe("read_file");
  });

  it("cannot hide an argument that the schema refers to", () => {
    const refers = tool("move", { from: { type: "string" }, to: { $ref: "#/properties/from" } });
    const filtered = applied((one) => ({ tool: one, fixed: { from: "/a" } }), [refers]);
    expect(filtered.problems[0]?.message).toContain("refers to it");
  });

  it("gives each call its own copy of a fixed value", () => {
    const filtered = applied(
      (one) => ({ tool: one, fixed: { where: { a: 1 } } }),
      [tool("t", { where: { type: "object" } })],
    );
    const { args } = filtered.innerCall("t", {});
    Object(args?.["where"]).a = 2;
    expect(filtered.innerCall("t", {}).args).toEqual({ where: { a: 1 } });
  });
});
