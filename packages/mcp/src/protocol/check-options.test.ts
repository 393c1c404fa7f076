import { describe, expect, it } from "vitest";
import { checkOptions } from "./check-options.js";
import { McpError } from "./error.js";

interface Options {
  input?: string;
  description?: string;
  timeoutMs?: number;
}
const NAMES = "input description timeoutMs";

const refusal = (options: object): McpError => {
  try {
    checkOptions('tool "x"', options as Options, NAMES);
  } catch (error) {
    if (McpError.is(error)) return error;
  }
  throw new Error("it was not refused");
};

describe("options that do not exist", () => {
  it("are refused with the name that was probably meant", () => {
    const { kind, message, fix } = refusal({ descripton: "" });
    expect({ kind, message, fix }).toEqual({
      kind: "invalid_definition",
      message: '"descripton" is not an option of tool "x"; did you mean "description"?',
      fix: "Write `description` in place of `descripton`.",
    });
    expect(refusal({ timeout: 5 }).message).toContain('did you mean "timeoutMs"?');
  });

  it("are translated from other libraries", () => {
    expect(refusal({ inputSchema: {} }).message).toContain('did you mean "input"?');
    expect(refusal({ capabilities: {} }).fix).toContain("capabilities are derived from registrations");
  });

  it("are refused with all names where nothing is near, also when they are undefined", () => {
    expect(refusal({ zzzzzzzz: undefined }).fix).toBe("Leave it out, or use one of: input, description, timeoutMs.");
    expect(refusal({ "input description": 1 }).message).toContain("is not an option");
    expect(refusal({ constructor: 1 }).fix).toContain("Leave it out");
  });

  it("are no problem where they exist, and options must be an object", () => {
    expect(() => checkOptions("x", { input: "", timeoutMs: 1 } as Options, NAMES)).not.toThrow();
    expect(() => checkOptions<Options, typeof NAMES>("x", undefined, NAMES)).not.toThrow();
    expect(refusal(3000 as unknown as object).message).toBe('the options of tool "x" are 3000, not an object');
    expect(refusal(null as unknown as object).message).toContain("null");
  });

  it("cannot be forgotten in the list of names, nor be listed too much", () => {
    // @ts-expect-error: `timeoutMs` is missing
    checkOptions("x", {} as Options, "input description");
    // @ts-expect-error: `more` does not exist
    checkOptions("x", {} as Options, "input description timeoutMs more");
  });
});
