import { describe, expect, it } from "vitest";
import { progressTokenOf } from "./meta.js";

describe("a progress token (BASE-05)", () => {
  it.each(["a", "", 0, -3, 2 ** 53 - 1])("is what the client chose: %s", (progressToken) => {
    expect(progressTokenOf({ progressToken })).toBe(progressToken);
  });

  it.each([2 ** 53, -(2 ** 53), 1.5])("is refused if it could not be repeated exactly: %s", (progressToken) => {
    expect(() => progressTokenOf({ progressToken })).toThrow("a progress token must be a string, or an integer");
  });

  it.each([undefined, null, {}, true])("is none: %s", (progressToken) => {
    expect(progressTokenOf({ progressToken })).toBeUndefined();
  });
});
