import { describe, expect, it } from "vitest";
import { applyDefaults, formIssues } from "./answerer.js";

describe("applyDefaults", () => {
  const schema = {
    type: "object",
    properties: {
      a: { type: "string", default: "x" },
      b: { type: "boolean", default: false },
      c: { type: "number" },
    },
  } as const;

  it("returns the defaults of an untouched form (ELIC-07)", () => {
    expect(applyDefaults(schema, {})).toEqual({ a: "x", b: false });
  });

  it("keeps what was answered, and the answer itself", () => {
    const content = { a: "y", c: 1 };
    expect(applyDefaults(schema, content)).toEqual({ a: "y", b: false, c: 1 });
    expect(content).toEqual({ a: "y", c: 1 });
  });
});

describe("formIssues", () => {
  const form = {
    type: "object",
    properties: { mail: { type: "string", format: "email" }, age: { type: "integer", minimum: 0 } },
    required: ["mail"],
  };

  it("gives nothing for an answer that fits", () => {
    expect(formIssues(form, { mail: "a@b.example", age: 3 })).toEqual([]);
  });

  it.each([
    [{}, "mail"],
    [{ mail: "nobody" }, "/mail"],
    [{ mail: "a@b.example", age: -1 }, "/age"],
    [{ mail: "a@b.example", age: { years: 3 } }, "/age is not a string, number, boolean or list of strings"],
  ])("says what is wrong with %j", (content, said) => {
    const issues = formIssues(form, content);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toContain(said);
  });

  it("throws for a schema that cannot be used", () => {
    expect(() => formIssues({ type: "nonsense" }, {})).toThrow("the form cannot be used");
  });
});
