import { describe, expect, it } from "vitest";
import { applyDefaults } from "./elicitation.js";

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
