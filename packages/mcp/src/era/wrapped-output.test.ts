import { describe, expect, it } from "vitest";
import { compileValidator } from "../schema/json-schema/validate.js";
import { wrappedSchema } from "./wrapped-output.js";

describe("a wrapped output schema", () => {
  const number = { type: "number" };
  const cases: [string, Record<string, unknown>, unknown, unknown][] = [
    ["a definition", { $ref: "#/$defs/a", $defs: { a: number } }, 1, "1"],
    ["a definition of draft-07", { anyOf: [{ $ref: "#/definitions/a" }], definitions: { a: number } }, 1, "1"],
    ["itself", { anyOf: [number, { type: "array", items: { $ref: "#" } }] }, [1, [2]], [1, ["2"]]],
    ["a part of itself", { prefixItems: [number, { $ref: "#/prefixItems/0" }] }, [1, 2], [1, "2"]],
    ["an anchor", { anyOf: [{ $ref: "#n" }], $defs: { a: { $anchor: "n", ...number } } }, 1, "1"],
    ["its own id", { $id: "https://x.test/s", anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: number } }, 1, "1"],
    [
      "a part with an id",
      { anyOf: [{ $id: "https://x.test/i", items: { $ref: "#/$defs/a" }, $defs: { a: number } }] },
      [1],
      ["1"],
    ],
  ];

  it.each(cases)("keeps references to %s resolvable (BASE-38)", (_to, schema, fits, unfit) => {
    const { validate } = compileValidator(wrappedSchema(schema));
    expect(validate({ result: fits }).valid).toBe(true);
    expect(validate({ result: unfit }).valid).toBe(false);
    expect(validate({}).valid).toBe(false);
  });

  it("leaves data alone that looks like a reference, and properties that are named like keywords", () => {
    const schema = {
      anyOf: [{ const: { $ref: "#" } }, { properties: { const: { $ref: "#" }, $ref: { enum: [{ $ref: "#/x" }] } } }],
    };
    expect(wrappedSchema(schema)["properties"]).toEqual({
      result: {
        anyOf: [
          { const: { $ref: "#" } },
          { properties: { const: { $ref: "#/properties/result" }, $ref: { enum: [{ $ref: "#/x" }] } } },
        ],
      },
    });
  });

  it("names its dialect at the root", () => {
    const $schema = "https://json-schema.org/draft/2020-12/schema";
    expect(wrappedSchema({ $schema, type: "array" })).toEqual({
      $schema,
      type: "object",
      required: ["result"],
      properties: { result: { type: "array" } },
    });
  });
});
