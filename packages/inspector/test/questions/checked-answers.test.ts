import { describe, expect, it } from "vitest";
import { checkedContent } from "../../src/questions/pending-questions.js";

const form = (properties: object, required: readonly string[] = []) => ({ type: "object", properties, required });
const text = { type: "string" };

/** What is said of content that does not fit. */
function issuesOf(schema: object, content: Record<string, unknown>): unknown {
  try {
    checkedContent(schema, content);
  } catch (error) {
    return (error as { data?: { issues?: unknown } }).data?.issues;
  }
  return [];
}

describe("the content of a form", () => {
  it("is completed by the defaults of the form", () => {
    const schema = form({ name: { ...text, default: "Ada" }, age: { type: "integer" } }, ["name"]);
    expect(checkedContent(schema, {})).toEqual({ name: "Ada" });
    expect(checkedContent(schema, { name: "Bob", age: 3 })).toEqual({ name: "Bob", age: 3 });
  });

  it("is not completed by defaults that no field may have", () => {
    expect(checkedContent(form({ a: { ...text, default: { b: 1 } } }), {})).toEqual({});
  });

  it("is refused at each field, whatever the field is called", () => {
    const short = { ...text, minLength: 3 };
    const schema = form({ a: short, "a b": short, "a/b~c": short, __proto__x: short }, ["a"]);
    const content = { "a b": "x", "a/b~c": "x", __proto__x: "x" };
    expect(issuesOf(schema, content)).toEqual([
      { path: "/a", message: "Required" },
      { path: "/a b", message: "Must have at least 3 characters" },
      { path: "/a~1b~0c", message: "Must have at least 3 characters" },
      { path: "/__proto__x", message: "Must have at least 3 characters" },
    ]);
  });

  it("is refused where a value is none, or a list has a wrong item", () => {
    const schema = form({ tags: { type: "array", items: { type: "string", enum: ["x"] } }, n: { type: "number" } });
    expect(issuesOf(schema, { n: { deep: 1 } })).toEqual([
      { path: "/n", message: "Is not a string, number, boolean or list of strings" },
    ]);
    expect(issuesOf(schema, { tags: ["x", "y"] })).toEqual([{ path: "/tags/1", message: expect.any(String) }]);
  });

  it("is refused as a whole where no field is to blame, and at fields that nobody asked for", () => {
    const schema = { ...form({ a: text }), minProperties: 3, additionalProperties: false };
    expect(issuesOf(schema, { b: "x" })).toEqual([
      { path: "", message: "Must have at least 3 properties" },
      { path: "/b", message: "Not in the schema" },
    ]);
  });

  it("is refused for a form that is none", () => {
    expect(() => checkedContent({ type: 5 }, {})).toThrow("the form cannot be used");
  });
});
