import { expect, it } from "vitest";
import { McpError } from "../protocol/error.js";
import { MAX_RECORDING_BYTES, parseRecording } from "./recording.js";

const HEADER = {
  format: "parley-recording",
  version: 1,
  began: "",
  target: { kind: "url", name: "http://127.0.0.1/mcp" },
  redacted: true,
};

const textOf = (...lines: unknown[]) => `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;

function problemOf(text: string): McpError {
  try {
    parseRecording(text, "s.jsonl");
  } catch (reason) {
    if (McpError.is(reason)) return reason;
    throw reason;
  }
  throw new Error("it was read");
}

it.each([
  ["", "s.jsonl is not a recording"],
  ["hello\n", "s.jsonl is not a recording"],
  [textOf([]), "s.jsonl is not a recording"],
  [textOf({ ...HEADER, format: "other" }), "s.jsonl is not a recording"],
  [textOf({ ...HEADER, version: 99 }), "has format version 99"],
  [textOf({ ...HEADER, target: undefined }), "line 1 is not a valid header"],
  [textOf({ ...HEADER, target: { kind: "url", name: {} } }), "line 1 is not a valid header"],
  [textOf({ ...HEADER, server: { name: 1 } }), "line 1 is not a valid header"],
  [textOf({ ...HEADER, revision: 7 }), "line 1 is not a valid header"],
  [`${textOf(HEADER)}{\n{}\n`, "line 2 is not JSON"],
  [textOf(HEADER, { ms: 1, direction: "up", message: {} }), "line 2 is not a message"],
  [textOf(HEADER, { ms: 1, direction: "sent", message: [] }), "line 2 is not a message"],
  ["x".repeat(MAX_RECORDING_BYTES + 1), "is longer than"],
])("refuses a text with its cause and a fix (%#)", (text, cause) => {
  const { kind, message, fix } = problemOf(text);
  expect(message).toContain(cause);
  expect(kind).toBe("invalid_definition");
  expect(fix).not.toBe("");
});

it("reads what a session that was killed has left", () => {
  const message = { ms: 1, direction: "sent", message: { jsonrpc: "2.0", id: 1, method: "ping" } };
  const { messages, notes } = parseRecording(`${textOf(HEADER, { note: "short" }, message)}{"ms":2,"dir`, "s.jsonl");
  expect(messages).toEqual([message]);
  expect(notes).toEqual(["short"]);
});
