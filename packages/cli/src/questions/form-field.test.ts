import { describe, expect, it } from "vitest";
import { formFields } from "./form-field.js";

describe("formFields", () => {
  const fieldOf = (schema: unknown) => formFields({ type: "object", properties: { it: schema } })?.[0];

  it.each([
    [{ type: "string" }, "text"],
    [{ type: "integer" }, "text"],
    [{ type: "boolean" }, "boolean"],
    [{ type: ["boolean", "null"] }, "text"],
    [{ type: "array", items: { type: "string" } }, "text"],
    [{ type: "object" }, "text"],
    [{}, "text"],
    [true, "text"],
    [{ type: "string", enum: ["a"] }, "choice"],
    [{ enum: [{ not: "plain" }] }, "text"],
    [{ type: "array", items: { enum: ["a"] } }, "choices"],
  ])("asks for %j by %s", (schema, kind) => {
    expect(fieldOf(schema)).toMatchObject({ name: "it", label: "it", kind, required: false });
  });

  it.each([
    { type: "string", enum: ["a", "b"], enumNames: ["Ah", "Be"] },
    {
      type: "string",
      oneOf: [
        { const: "a", title: "Ah" },
        { const: "b", title: "Be" },
      ],
    },
    {
      type: "array",
      items: {
        anyOf: [
          { const: "a", title: "Ah" },
          { const: "b", title: "Be" },
        ],
      },
    },
  ])("takes the titles of choices in %j", (schema) => {
    expect(fieldOf(schema)?.choices).toEqual([
      { value: "a", label: "Ah" },
      { value: "b", label: "Be" },
    ]);
  });

  it("asks for text in place of a choice among too many", () => {
    expect(fieldOf({ enum: Array.from({ length: 501 }, (_, at) => `${at}`) })?.kind).toBe("text");
  });

  it("refuses a form that nobody would fill in", () => {
    const properties = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${at}`, {}]));
    expect(formFields({ properties })).toBeUndefined();
  });

  it("cuts what would fill the screen", () => {
    const field = fieldOf({ title: "t".repeat(10_000), description: "d".repeat(10_000) });
    expect(field?.label).toHaveLength(120);
    expect(field?.description).toHaveLength(500);
  });
});
