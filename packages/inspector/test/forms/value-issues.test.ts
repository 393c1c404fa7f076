import { describe, expect, it } from "vitest";
import { valueIssues } from "../../page/forms/model/value-issues.js";

const inside = (schema: unknown, value: unknown) =>
  valueIssues({ type: "object", properties: { v: schema } }, { v: value }).map(
    ({ path, message }) => `${path} ${message}`,
  );

describe("what to change in a value", () => {
  it.each([
    [{ type: "string", minLength: 2 }, "a", "/v Must have at least 2 characters"],
    [{ type: "string", maxLength: 1 }, "ab", "/v Must have at most 1 character"],
    [{ type: "integer", minimum: 1 }, 0, "/v Must be at least 1"],
    [{ type: "integer", maximum: 9 }, 12, "/v Must be at most 9"],
    [{ type: "number", exclusiveMinimum: 0 }, 0, "/v Must be above 0"],
    [{ type: "number", exclusiveMaximum: 1 }, 1, "/v Must be below 1"],
    [{ type: "number", multipleOf: 0.1 }, 0.25, "/v Must be a multiple of 0.1"],
    [{ type: "array", items: { type: "number" }, minItems: 1 }, [], "/v Must have at least 1 item"],
    [{ type: "array", items: { type: "number" }, maxItems: 1 }, [1, 2], "/v Must have at most 1 item"],
    [{ type: "array", items: {}, uniqueItems: true }, [{ a: 1 }, { a: 1 }], "/v Items must be unique"],
    [{ type: "array", items: { type: "number", maximum: 1 } }, [1, 2], "/v/1 Must be at most 1"],
    [{ type: "array", prefixItems: [{ type: "string", minLength: 1 }] }, [""], "/v/0 Must have at least 1 character"],
    [{ type: "object", properties: { a: {} }, required: ["a"] }, {}, "/v/a Required"],
    [{ type: "object", properties: { "a/b~": { type: "string" } }, required: ["a/b~"] }, {}, "/v/a~1b~0 Required"],
    [{ type: "object", properties: { a: {} }, additionalProperties: false }, { b: 1 }, "/v/b Not in the schema"],
    [
      {
        oneOf: [
          { type: "object", properties: { kind: { const: "a" }, n: { type: "number" } }, required: ["kind", "n"] },
          { type: "object", properties: { kind: { const: "b" } }, required: ["kind"] },
        ],
      },
      { kind: "a" },
      "/v/n Required",
    ],
  ])("of %j is said for %j", (schema, value, issue) => {
    expect(inside(schema, value)).toEqual([issue]);
  });

  it.each([
    [{ type: "string", minLength: 1, maxLength: 1 }, "😀"],
    [{ type: "string", pattern: "^(a+)+$" }, "b"],
    [{ type: "number", multipleOf: 0.1 }, 0.3],
    [{ type: ["number", "null"], minimum: 1 }, null],
    [{ type: "object", properties: { a: {} } }, { b: 1 }],
    [{ type: "string" }, 12],
    [{}, 12],
    [{ type: "string", minLength: 2 }, undefined],
  ])("is nothing for %j and %j", (schema, value) => {
    expect(inside(schema, value)).toEqual([]);
  });

  it("is bounded for values and schemas that never end", () => {
    const schema = { $ref: "#/$defs/t", $defs: { t: { type: "array", minItems: 1, items: { $ref: "#/$defs/t" } } } };
    const list = Array.from({ length: 100_000 }, () => []);
    expect(valueIssues(schema, list)).toHaveLength(100);
    expect(valueIssues({ type: "array", items: { type: "number" } }, list)).toEqual([]);
  });
});
