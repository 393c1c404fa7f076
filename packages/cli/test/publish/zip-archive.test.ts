import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { zipArchive } from "../../src/publish/zip-archive.js";

/** The reader of the official tool for bundles. */
const reader = join(import.meta.dirname, "../../../mcp/test/peers/node_modules", "fflate/esm/index.mjs");

describe("an archive", () => {
  const files = [
    ["manifest.json", Buffer.from("{}")],
    ["server/index.mjs", Buffer.from("x".repeat(100_000))],
    ["empty", Buffer.alloc(0)],
    ["ünïcode.txt", Buffer.from("é")],
  ] as const;

  it.skipIf(!existsSync(reader))("is read by another library", async () => {
    const { unzipSync } = (await import(pathToFileURL(reader).href)) as {
      unzipSync: (bytes: Uint8Array) => Record<string, Uint8Array>;
    };
    const archive = zipArchive(new Map(files));
    expect(archive.length).toBeLessThan(2_000);
    const read = unzipSync(archive);
    expect(Object.keys(read)).toEqual(["empty", "manifest.json", "server/index.mjs", "ünïcode.txt"]);
    for (const [name, content] of files) expect(Buffer.from(read[name] ?? [])).toEqual(content);
  });

  it("has the checksum of each file, in its header and in the directory", () => {
    // The check value of CRC-32 for the digits from 1 to 9 is cbf43926.
    const text = zipArchive(new Map([["a", Buffer.from("123456789")]])).toString("hex");
    expect(text.split("2639f4cb")).toHaveLength(3);
  });

  it("depends on its files only, not on their order or the date", () => {
    const archive = zipArchive(new Map(files));
    expect(zipArchive(new Map([...files].reverse()))).toEqual(archive);
    // Midnight of 1 January 1980 in the first header.
    expect(archive.subarray(10, 14).toString("hex")).toBe("00002100");
    expect(zipArchive(new Map([["a", Buffer.from("1")]]))).not.toEqual(zipArchive(new Map([["a", Buffer.from("2")]])));
  });

  it.each(["../a", "a/../b", "/a", "a//b", "a\\b", "C:/a", "", ".", "a/", "a\0b"])("rejects the name %j", (name) => {
    expect(() => zipArchive(new Map([[name, Buffer.alloc(1)]]))).toThrow("is not a path inside an archive");
  });
});
