import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive, itemsOf, textOf } from "../../../test/server/drive.js";
import { cutToJsonBytes, utf8Bytes } from "../../encoding/json-bytes.js";
import { Server } from "../server.js";
import { image, text } from "./content.js";
import { OverflowStore } from "./overflow-store.js";

const info = { name: "s", version: "1" };
const FIVE_MB = 'Zeile mit "Anführung"\n'.repeat(220_000);

function sizeOf(reply: { result?: object }): number {
  const { resultType, _meta, ...own } = reply.result as Record<string, unknown>;
  return utf8Bytes(JSON.stringify(own));
}

describe("a result that is too large", () => {
  it("is cut to its limit, with a note", async () => {
    const server = new Server(info).tool("t", { maxResultBytes: 20_000 }, () => FIVE_MB);
    const reply = await new Drive(server).call("t");
    expect(sizeOf(reply)).toBeLessThanOrEqual(20_000);
    expect(sizeOf(reply)).toBeGreaterThan(18_000);
    expect(reply.result?.isError).toBeUndefined();
    expect(textOf(reply)).toMatch(/\[The result of "t" has \d+ bytes, the limit is 20000\. Ask for less\.\]$/);
  });

  it("is left alone when it fits", async () => {
    const server = new Server(info).tool("t", { maxResultBytes: 2000 }, () => "é".repeat(900));
    expect(textOf(await new Drive(server).call("t"))).toBe("é".repeat(900));
  });

  it("keeps whole blocks as long as they fit, and nothing after the first that does not", async () => {
    const server = new Server(info).tool("t", { maxResultBytes: 4000 }, () => [
      text("first"),
      image("A".repeat(8000), "image/png"),
      text("after"),
    ]);
    const { result } = await new Drive(server).call("t");
    expect(result?.content?.map(({ type }) => type)).toEqual(["text", "text"]);
    expect(result?.content?.[0]?.text).toBe("first");
  });

  it("becomes an error where the tool promises structured content, which half of it would not be (TOOL-11)", async () => {
    const output = z.object({ rows: z.array(z.string()) });
    const server = new Server(info, { tools: { maxResultBytes: 5000 } }).tool("t", { output }, () => ({
      rows: Array(1000).fill("row of some length"),
    }));
    const reply = await new Drive(server).call("t");
    expect(reply.result?.isError).toBe(true);
    expect(reply.result).not.toHaveProperty("structuredContent");
    expect(sizeOf(reply)).toBeLessThanOrEqual(5000);
  });

  it("is cut also when it tells of a failure", async () => {
    const server = new Server(info).tool("t", { maxResultBytes: 3000 }, () => {
      throw new Error("x".repeat(100_000));
    });
    const reply = await new Drive(server).call("t");
    expect(reply.result?.isError).toBe(true);
    expect(sizeOf(reply)).toBeLessThanOrEqual(3000);
  });

  it("can be read as a whole through its link, by its caller only", async () => {
    const server = new Server(info).tool("t", { maxResultBytes: 5000, overflow: "link" }, () => FIVE_MB);
    for (const revision of ["2026-07-28", "2025-11-25"] as const) {
      const drive = new Drive(server, { revision, principal: { key: "me" } });
      const reply = await drive.call("t");
      expect(sizeOf(reply)).toBeLessThanOrEqual(5000);
      const uri = reply.result?.content?.find(({ type }) => type === "resource_link")?.uri;
      const read = await drive.send("resources/read", { uri });
      expect(read.result?.["contents"]).toEqual([{ uri, mimeType: "text/plain", text: FIVE_MB }]);
      const foreign = new Drive(server, { revision, principal: { key: "you" } });
      expect((await foreign.send("resources/read", { uri })).error?.message).toContain("not found");
    }
  });

  it("links to the JSON of structured content, and to a text in revisions without links", async () => {
    const rows = Array(1000).fill("row of some length");
    const server = new Server(info).tool(
      "t",
      { output: z.object({ rows: z.array(z.string()) }), maxResultBytes: 5000, overflow: "link" },
      () => ({ rows }),
    );
    const drive = new Drive(server, { revision: "2024-11-05" });
    const shown = textOf(await drive.call("t"));
    const uri = /parley-result:\/\/\/[\w-]+/.exec(shown)?.[0];
    const [contents] = itemsOf<{ text: string }>(await drive.send("resources/read", { uri }), "contents");
    expect(JSON.parse(contents?.text ?? "")).toEqual({ rows });
  });
});

describe("the store of oversized results", () => {
  it("forgets what is old, and the oldest when there is too much", () => {
    let now = 0;
    let byte = 0;
    const platform = {
      monotonic: () => now,
      randomBytes: (count: number) => new Uint8Array(count).fill(byte++ % 256, 0, 8).fill(byte >> 8, 8),
    };
    const store = new OverflowStore(platform as never);
    const first = store.store("one", "text/plain", undefined) ?? "";
    expect(store.read(first, undefined)?.text).toBe("one");
    expect(store.read(first, "somebody")).toBeUndefined();
    now = 600_001;
    expect(store.read(first, undefined)).toBeUndefined();
    const many = Array.from({ length: 300 }, (_, i) => store.store(String(i), "text/plain", undefined) ?? "");
    expect(many.filter((uri) => store.read(uri, undefined) !== undefined).length).toBeLessThanOrEqual(256);
    expect(store.store("x".repeat(65 * 1024 * 1024), "text/plain", undefined)).toBeUndefined();
    const large = Array.from(
      { length: 4 },
      () => store.store("x".repeat(30 * 1024 * 1024), "text/plain", undefined) ?? "",
    );
    expect(large.map((uri) => store.read(uri, undefined) !== undefined)).toEqual([false, false, true, true]);
  });
});

describe("cutting text for JSON", () => {
  it("never exceeds the budget, never splits a character, and uses what there is", () => {
    const samples = ["plain", 'q"\\uote', "\u0000\u001f\n", "é€😀", "\ud800 lone", "😀".repeat(50)];
    for (const sample of samples) {
      for (let budget = 0; budget < 60; budget++) {
        const cut = cutToJsonBytes(sample, budget);
        expect(sample.startsWith(cut)).toBe(true);
        expect(utf8Bytes(JSON.stringify(cut)) - 2).toBeLessThanOrEqual(budget);
        expect(/[\ud800-\udbff]$/.test(cut) && sample.includes("😀")).toBe(false);
      }
    }
    expect(cutToJsonBytes("plain", 5)).toBe("plain");
  });
});
