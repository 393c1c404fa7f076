import { expect, it } from "vitest";
import { nearestName } from "../../src/encoding/nearest-name.js";
import { promptTemplate } from "../../src/server/prompts/template.js";
import { Server } from "../../src/server/server.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import { countSteps, growthOf } from "./cost.js";

it("a prompt template takes time in proportion to its length", () => {
  const fill = (times: number) => {
    const text = "{{a}}".repeat(times) + "{ ".repeat(times);
    return () => promptTemplate(text)({ a: "b" } as never);
  };
  expect(countSteps(fill(20_000))).toBeLessThanOrEqual(20 * 20_000);
  // Eight times the length: quadratic work would take 64 times as long.
  expect(growthOf(fill(2_500), fill(20_000), 24)).toBeLessThanOrEqual(24);
});

it("the name that was probably meant costs little among many long names", () => {
  const known = Array.from({ length: 10_000 }, (_, index) => `${"n".repeat(50)}${index}`);
  // Without a bound on how far names may differ, each would take 60 × 55 steps.
  expect(countSteps(() => nearestName("m".repeat(60), known))).toBeLessThanOrEqual(1_000 * known.length);
});

it("a busy ring log of the memory storage has a constant cost", () => {
  const storage = createMemoryStorage({ clock: { now: () => 1_000 } });
  const limits = { maxEntries: 100, maxBytes: 100_000, maxAgeMs: 60_000 };
  const append = (count: number) => () => {
    for (let index = 0; index < count; index++) storage.log.append("s", "0123456789", limits);
  };
  // Full from here on.
  append(1_000)();
  // It has room for 100 entries: one step for each of them would be too many.
  expect(countSteps(append(20_000))).toBeLessThanOrEqual(60 * 20_000);
  // Appending moves no entries: that would be the runtime's work, which is not counted.
  expect(growthOf(append(2_000), append(16_000), 24)).toBeLessThanOrEqual(24);
});

it("a tool costs the same however many a server has", () => {
  const add = (count: number) => () => {
    const server = new Server({ name: "many", version: "1" });
    for (let index = 0; index < count; index++) server.tool(`tool-${index}`, () => "");
  };
  expect(countSteps(add(2_000))).toBeLessThanOrEqual(9 * countSteps(add(250)));
  expect(growthOf(add(250), add(2_000), 24)).toBeLessThanOrEqual(24);
});
