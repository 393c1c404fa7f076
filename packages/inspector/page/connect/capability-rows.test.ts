import { expect, test } from "vitest";
import { describeCapabilities } from "./capability-rows.js";

test("capabilities are told in words, extensions each by their own name", () => {
  const facts = describeCapabilities({
    tools: { listChanged: true },
    resources: { subscribe: false, listChanged: true },
    prompts: {},
    odd: 3,
    extensions: { "io.example/tasks": { list: {}, limit: 5 } },
  });
  expect(facts).toEqual([
    { name: "tools", words: "yes, listChanged" },
    { name: "resources", words: "yes, no subscribe, listChanged" },
    { name: "prompts", words: "yes" },
    { name: "odd", words: "3" },
    { name: "io.example/tasks", words: "extension, yes, list, limit: 5" },
  ]);
});

test("a server that declares very many gets no more than a page of rows", () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`c${at}`, {}]));
  expect(describeCapabilities(many).length).toBeLessThanOrEqual(100);
});
