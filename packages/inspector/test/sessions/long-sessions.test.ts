import { setImmediate } from "node:timers/promises";
import { parseRecording } from "@parley/mcp/recording";
import { describe, expect, it } from "vitest";
import type { FileStream } from "../../src/contract/sessions.js";
import { type DrivenEngine, driveEngine } from "../engine/opened-engine.js";
import { builtPage } from "../kit/built-page.js";

const MESSAGES = 200;
/** Together some ten slices by their length alone, on a machine of any speed. */
const TEXT = `token=hunter2222 ${"lorem ipsum ".repeat(1_200)}`;

/** An engine with a session of a few megabytes. */
async function longSession(): Promise<[driven: DrivenEngine, connection: string]> {
  const driven = driveEngine({}, await builtPage());
  const header = {
    format: "parley-recording",
    version: 1,
    began: "",
    target: { kind: "url", name: "x" },
    redacted: true,
  };
  const lines = Array.from({ length: MESSAGES }, (_, at) => ({
    ms: at,
    direction: "received",
    message: { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: `${at}: ${TEXT}` } },
  }));
  const text = [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
  const { connection } = await driven.act("importSession", { text, name: "long.jsonl" });
  return [driven, connection];
}

/** Reads a file to its end, and counts its parts, and the actions that are answered between its first part and its last. */
async function readAmongOthers(driven: DrivenEngine, making: FileStream | Promise<FileStream>) {
  const read = { text: "", parts: 0, answered: 0, done: false };
  const others = (async () => {
    while (!read.done) {
      await setImmediate();
      await driven.act("stopRecording", {});
      if (!read.done) read.answered += 1;
    }
  })();
  const { parts } = await making;
  for await (const part of parts) {
    read.text += part;
    read.parts += 1;
  }
  read.done = true;
  await others;
  return read;
}

describe("a long session", () => {
  it("is exported in parts, and other actions are answered between them", async () => {
    const [driven, connection] = await longSession();
    const { text, parts, answered } = await readAmongOthers(
      driven,
      driven.engine.handlers.exportSession({ connection }),
    );
    expect(parts).toBeGreaterThanOrEqual(8);
    expect(answered).toBeGreaterThanOrEqual(parts - 1);
    expect(text).not.toContain("hunter2222");
    const { messages } = parseRecording(text, "exported");
    expect(messages.map(({ ms }) => ms)).toEqual(Array.from({ length: MESSAGES }, (_, at) => at));
  });

  it("is shared in parts, and other actions are answered before and between them", async () => {
    const [driven] = await longSession();
    const { text, parts, answered } = await readAmongOthers(driven, driven.engine.handlers.share({}));
    expect(parts).toBeGreaterThanOrEqual(8);
    // Besides those between the parts, some while the entries were cleaned, which are as long.
    expect(answered).toBeGreaterThanOrEqual(parts - 1 + 8);
    expect(text).not.toContain("hunter2222");
    const json = /id="shared-session">(.*?)<\/script>/s.exec(text)?.[1] ?? "";
    const { entries, leftOut } = JSON.parse(json);
    expect([entries.length, leftOut]).toEqual([MESSAGES, 0]);
    expect(entries[0].summary.seq).toBeLessThan(entries[1].summary.seq);
  });

  it("is exported as it was when that was asked for, whatever is forgotten meanwhile", async () => {
    const [driven, connection] = await longSession();
    const { parts } = await driven.engine.handlers.exportSession({ connection });
    await driven.act("clear", {});
    let text = "";
    for await (const part of parts) text += part;
    expect(parseRecording(text, "exported").messages).toHaveLength(MESSAGES);
  });
});
