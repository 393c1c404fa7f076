import { expect, it } from "vitest";
import { nearestName } from "../../src/encoding/nearest-name.js";
import { promptTemplate } from "../../src/server/prompts/template.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import { leastTime } from "./cost.js";

it("a prompt template takes time in proportion to its length", () => {
  const text = "{{a}}".repeat(20_000) + "{ ".repeat(20_000);
  expect(leastTime(() => promptTemplate(text)({ a: "b" } as never), 1000)).toBeLessThan(1000);
});

it("the name that was probably meant costs little among many long names", () => {
  const known = Array.from({ length: 10_000 }, (_, index) => `${"n".repeat(50)}${index}`);
  expect(leastTime(() => nearestName("m".repeat(60), known), 200)).toBeLessThan(200);
});

it("a busy ring log of the memory storage has a constant cost", () => {
  const storage = createMemoryStorage({ clock: { now: () => 1_000 } });
  const limits = { maxEntries: 100, maxBytes: 100_000, maxAgeMs: 60_000 };
  const appendMany = () => {
    for (let index = 0; index < 200_000; index++) storage.log.append("s", "0123456789", limits);
  };
  expect(leastTime(appendMany, 2_000)).toBeLessThan(2_000);
});
