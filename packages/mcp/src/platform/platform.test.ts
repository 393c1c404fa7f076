import { describe, expect, it } from "vitest";
import { platform } from "./default.js";
import { replacedPlatform } from "./platform.js";

describe("a platform with members replaced", () => {
  it("takes both clocks from a program that replaces the clock alone", () => {
    expect(replacedPlatform(platform, { now: () => 5 }).monotonic()).toBe(5);
    expect(replacedPlatform(platform, { now: () => 5, monotonic: () => 7 }).monotonic()).toBe(7);
    expect(replacedPlatform(platform, { monotonic: () => 7 }).now()).toBeGreaterThan(7);
    expect(replacedPlatform(platform, undefined).monotonic).toBe(platform.monotonic);
  });
});
