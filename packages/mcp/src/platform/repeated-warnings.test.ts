import { describe, expect, it } from "vitest";
import { fakeTime } from "../../test/http/fake-time.js";
import { RepeatedWarnings } from "./repeated-warnings.js";

function setUp() {
  const time = fakeTime();
  return { ...time, repeated: new RepeatedWarnings(time.platform, "the storage failed") };
}

describe("warnings that repeat", () => {
  it("are printed once for each cause, and then counted in every period until they cease", () => {
    const { repeated, warnings, advance, pending } = setUp();
    for (let count = 0; count < 1000; count++) repeated.warn(new Error(`no answer within ${count} ms`));
    repeated.warn("no room");
    expect(warnings).toEqual(["the storage failed: Error: no answer within 0 ms", "the storage failed: no room"]);
    advance(30_000);
    expect(warnings.slice(2)).toEqual(["the storage failed 999 more times within 30 s: Error: no answer within 0 ms"]);
    repeated.warn(new Error("no answer within 7 ms"));
    advance(30_000);
    expect(warnings.slice(3)).toEqual(["the storage failed once more within 30 s: Error: no answer within 0 ms"]);
    advance(30_000);
    expect([warnings.length, pending()]).toEqual([4, 0]);
    repeated.warn("no room");
    expect(warnings.at(-1)).toBe("the storage failed: no room");
  });

  it("are bounded, and none is lost at the end", () => {
    const { repeated, warnings, pending } = setUp();
    for (let count = 0; count < 1000; count++) repeated.warn("x".repeat(count));
    expect(warnings).toHaveLength(17);
    expect(warnings.at(-1)).toBe("the storage failed: other causes");
    repeated.close();
    expect(warnings.slice(17)).toEqual(["the storage failed 983 more times within 0 s: other causes"]);
    expect(pending()).toBe(0);
  });

  it("are printed in time where the runtime has dropped the timer", () => {
    const { platform, warnings, advance } = fakeTime();
    const repeated = new RepeatedWarnings({ ...platform, timer: () => ({ cancel() {} }) }, "it failed");
    repeated.warn("a");
    repeated.warn("a");
    advance(60_000);
    repeated.warn("a");
    expect(warnings).toEqual(["it failed: a", "it failed 2 more times within 60 s: a"]);
  });
});
