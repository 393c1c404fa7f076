import { expect, it } from "vitest";
import { parseRecording, type RecordedMessage } from "./recording.js";
import { RecordingWriter, recordingText } from "./recording-writer.js";
import { Redactor } from "./redactor.js";

const TARGET = { kind: "url", name: "http://127.0.0.1/mcp" } as const;
const BEGAN = new Date("2026-01-02T03:04:05Z");

const HANDSHAKE: readonly RecordedMessage[] = [
  { ms: 0, direction: "sent", message: { jsonrpc: "2.0", id: 1, method: "initialize", params: {} } },
  {
    ms: 1,
    direction: "received",
    message: {
      jsonrpc: "2.0",
      id: 1,
      result: { protocolVersion: "2025-11-25", serverInfo: { name: "weather", version: "2" } },
    },
  },
];

function echo(id: number, text: string): RecordedMessage {
  const message = { jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: { text } } };
  return { ms: id, direction: "sent", message, connection: 2 };
}

it("writes what is read back, with the server and revision of the handshake", () => {
  const messages = [...HANDSHAKE, echo(2, "grüße")];
  const { header, ...rest } = parseRecording(recordingText({ target: TARGET, began: BEGAN }, messages), "a");
  expect(header).toEqual({
    format: "parley-recording",
    version: 1,
    began: "2026-01-02T03:04:05.000Z",
    target: TARGET,
    revision: "2025-11-25",
    server: { name: "weather", version: "2" },
    redacted: false,
  });
  expect(rest).toEqual({ messages, notes: [] });
});

it("takes secrets out of messages, the server's name and the target", () => {
  const target = { kind: "url", name: "http://hunter2222/mcp" } as const;
  const redactor = new Redactor({ values: ["hunter2222", "weather"] });
  const text = recordingText({ target, began: BEGAN, redactor }, [...HANDSHAKE, echo(2, "say hunter2222")]);
  expect(text).not.toMatch(/hunter|weather/);
  expect(parseRecording(text, "a").header).toMatchObject({ redacted: true, server: { name: "[redacted]" } });
});

it("ends with a note at its limit, which counts bytes", () => {
  const notes: string[] = [];
  const many = Array.from({ length: 50 }, (_item, at) => echo(at, "ü".repeat(100)));
  const text = recordingText(
    { target: TARGET, began: BEGAN, maxBytes: 5_000, onNote: (note) => notes.push(note) },
    many,
  );
  const { messages, notes: read } = parseRecording(text, "a");
  expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(5_000);
  expect(messages.length).toBeGreaterThan(5);
  expect(messages).toEqual(many.slice(0, messages.length));
  expect(read).toEqual(["the recording ends here: it would be longer than 5000 bytes"]);
  expect(notes).toEqual(read);
});

it("holds messages until the handshake is over, and no more than a bounded number", () => {
  const lines: string[] = [];
  const writer = new RecordingWriter({ target: TARGET, began: BEGAN }, (line) => lines.push(line));
  for (const message of HANDSHAKE) writer.add(message);
  expect(lines).toEqual([]);
  writer.established();
  expect(lines).toHaveLength(3);
  const endless: string[] = [];
  const other = new RecordingWriter({ target: TARGET, began: BEGAN }, (line) => endless.push(line));
  for (let at = 0; at < 101; at++) other.add(echo(at, "x"));
  expect(endless).toHaveLength(102);
});

it("writes nothing after it was stopped", () => {
  const lines: string[] = [];
  const writer = new RecordingWriter({ target: TARGET, began: BEGAN }, (line) => lines.push(line));
  writer.established();
  writer.stop("the disk is full");
  writer.stop("again");
  writer.add(echo(1, "x"));
  expect(lines.slice(1)).toEqual(['{"note":"the recording ends here: the disk is full"}\n']);
});
