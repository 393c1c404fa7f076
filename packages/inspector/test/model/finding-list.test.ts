import type { Finding } from "@parley/mcp/lint";
import { expect, it } from "vitest";
import { findingNotes } from "../../page/model/finding-list.js";

const tool = { name: "t", inputSchema: { type: "object", properties: { city: { type: "string" }, "a.b": {} } } };
const text = JSON.stringify(tool, null, 2);
const finding = (path: string | undefined, message = "is vague"): Finding => ({
  rule: "r",
  severity: "warning",
  tool: "t",
  path,
  message,
  fix: "Say more.",
});
const lineOf = (words: string) => text.split("\n").findIndex((line) => line.includes(words));

it("places a finding at the line of the value that it is about", () => {
  const notes = findingNotes(text, [finding("inputSchema.properties.city"), finding("inputSchema", "is big")]);
  expect(notes.get(lineOf('"city"'))).toEqual(["is vague (r)"]);
  expect(notes.get(lineOf('"inputSchema"'))).toEqual(["is big (r)"]);
});

it("places what is not there, or cannot be told from it, at the nearest value around it", () => {
  const notes = findingNotes(text, [finding("inputSchema.properties.a.b"), finding("annotations", "are missing")]);
  expect(notes.get(lineOf('"properties"'))).toEqual(["is vague (r)"]);
  expect(notes.get(0)).toEqual(["are missing (r)"]);
});

it("leaves findings about the tool as a whole to the list, and is bounded", () => {
  expect(findingNotes(text, [finding(undefined)]).size).toBe(0);
  const many = Array.from({ length: 1_000 }, (_, at) => finding("inputSchema", `no. ${at}`));
  expect(findingNotes(text, many).get(lineOf('"inputSchema"'))).toHaveLength(100);
});
