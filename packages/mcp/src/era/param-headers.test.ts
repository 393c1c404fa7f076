import { describe, expect, it } from "vitest";
import { httpFacts } from "../../test/server/http-facts.js";
import { checkParamHeaders, paramHeaders, paramHeaderTable } from "./param-headers.js";

const schemaOf = (properties: object) => ({ type: "object", properties });
const good = schemaOf({
  region: { type: "string", "x-mcp-header": "Region" },
  count: { type: "integer", "x-mcp-header": "Count" },
  nested: schemaOf({ flag: { type: ["boolean", "null"], "x-mcp-header": "Flag" } }),
  plain: { type: "number" },
});

function table(schema: object) {
  const read = paramHeaderTable(schema);
  if ("problem" in read) throw new Error(read.problem);
  return read.headers;
}

describe("the header table of a schema", () => {
  it("finds annotations reachable by property names, nested ones too (HTTP26-31, HTTP26-34)", () => {
    expect(table(good).map(({ header, path }) => [header, path.join(".")])).toEqual([
      ["mcp-param-Region", "region"],
      ["mcp-param-Count", "count"],
      ["mcp-param-Flag", "nested.flag"],
    ]);
  });

  it("refuses bad names, types, repetitions and unreachable places (HTTP26-32, HTTP26-33, HTTP26-34)", () => {
    const annotated = { type: "string", "x-mcp-header": "X" };
    for (const schema of [
      schemaOf({ a: { type: "string", "x-mcp-header": "" } }),
      schemaOf({ a: { type: "string", "x-mcp-header": "a b" } }),
      schemaOf({ a: { type: "string", "x-mcp-header": "a\r\nb" } }),
      schemaOf({ a: { type: "string", "x-mcp-header": 5 } }),
      schemaOf({ a: { type: "number", "x-mcp-header": "X" } }),
      schemaOf({ a: { type: "object", "x-mcp-header": "X" } }),
      schemaOf({ a: { type: "null", "x-mcp-header": "X" } }),
      schemaOf({ a: { "x-mcp-header": "X" } }),
      schemaOf({ a: { type: ["string", "integer"], "x-mcp-header": "X" } }),
      schemaOf({ a: annotated, b: { type: "string", "x-mcp-header": "x" } }),
      schemaOf({ a: { type: "array", items: annotated } }),
      schemaOf({ a: { anyOf: [schemaOf({ b: annotated })] } }),
      { type: "object", oneOf: [schemaOf({ a: annotated })] },
      { ...schemaOf({ a: { type: "string" } }), "x-mcp-header": "Root" },
      schemaOf({ a: { type: "string", contentSchema: schemaOf({ b: annotated }) } }),
      { type: "object", dependencies: { a: schemaOf({ b: annotated }) } },
      { type: "object", $defs: { a: annotated }, properties: { a: { $ref: "#/$defs/a" } } },
    ]) {
      expect(paramHeaderTable(schema), JSON.stringify(schema)).toHaveProperty("problem");
    }
    const data = schemaOf({ a: { default: annotated, examples: [annotated], const: annotated, enum: [annotated] } });
    expect(paramHeaderTable(data)).toEqual({ headers: [] });
  });
});

describe("mirrored arguments", () => {
  it("are written as the protocol says; absent and null ones not at all (HTTP26-36, HTTP26-37)", () => {
    const args = { region: "Zürich", count: 42, nested: { flag: false } };
    expect(paramHeaders(table(good), args)).toEqual({
      "mcp-param-Region": "=?base64?WsO8cmljaA==?=",
      "mcp-param-Count": "42",
      "mcp-param-Flag": "false",
    });
    expect(paramHeaders(table(good), { region: null, nested: {} })).toEqual({});
    expect(paramHeaders(table(good), { region: "" })).toEqual({ "mcp-param-Region": "" });
  });

  it("are compared after decoding; integers by value (HTTP26-40, HTTP26-41, HTTP26-42)", () => {
    const check = (headers: Record<string, string>, args: object) => () =>
      checkParamHeaders(table(good), args, httpFacts(headers));
    expect(check({ "mcp-param-region": " =?base64?SGVsbG8=?= " }, { region: "Hello" })).not.toThrow();
    expect(check({ "mcp-param-count": "42.0" }, { count: 42 })).not.toThrow();
    expect(check({}, { region: null })).not.toThrow();
    expect(check({ "mcp-param-count": "42" }, { count: "42" })).not.toThrow();
    expect(check({ "mcp-param-flag": "true" }, { nested: { flag: "true" } })).not.toThrow();
    for (const [headers, args] of [
      [{}, { region: "x" }],
      [{ "mcp-param-region": "eu" }, {}],
      [{ "mcp-param-region": "eu" }, { region: null }],
      [{ "mcp-param-region": "" }, {}],
      [{ "mcp-param-region": "Z\u00fcrich" }, { region: "Z\u00fcrich" }],
      [{ "mcp-param-count": "42.0" }, { count: "42" }],
      [{ "mcp-param-region": "other" }, { region: "x" }],
      [{ "mcp-param-region": "=?base64?SGVsbG8?=" }, { region: "Hello" }],
      [{ "mcp-param-count": "43" }, { count: 42 }],
      [{ "mcp-param-count": "" }, { count: 0 }],
      [{ "mcp-param-flag": "False" }, { nested: { flag: false } }],
    ] as const) {
      expect(check(headers as Record<string, string>, args)).toThrow(expect.objectContaining({ code: -32020 }));
    }
  });
});
