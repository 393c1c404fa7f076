import { describe, expect, it } from "vitest";
import { textSchema, textValues } from "../../page/use/text-arguments.js";
import { sketch } from "../forms/sketch.js";

describe("the form for texts", () => {
  it("has a field for each, and none besides", () => {
    const schema = textSchema([
      { name: "language", required: true, title: "Language", description: "Which" },
      { name: "__proto__", required: false },
    ]);
    expect(sketch(schema)).toBe("{language*:text,__proto__:text}");
  });

  it("gives texts only", () => {
    expect(textValues({ a: "x", b: 5, c: null, d: "" })).toEqual({ a: "x", d: "" });
    expect(textValues(null)).toEqual({});
    expect(textValues("text")).toEqual({});
  });
});
