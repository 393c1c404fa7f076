import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveImport } from "../architecture/import-table.js";
import { scanSource } from "../architecture/scan-source.js";

const root = resolve(import.meta.dirname, "../../src");

/** All files and packages that a file can ever load, by `import` or later by `import()`. */
function reachedFrom(entry: string): string[] {
  const reached = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    if (!existsSync(join(root, path))) continue;
    for (const { text, typeOnly } of scanSource(path, readFileSync(join(root, path), "utf8")).imports) {
      if (!typeOnly)
        waiting.push(text.startsWith("#") ? `node/${text.slice(1)}.ts` : (resolveImport(path, text) ?? text));
    }
  }
  return [...reached];
}

describe("a program that does not use `auth`", () => {
  it.each(["index.ts", "node.ts", "testing.ts"])("contains none of its code nor packages: %s", (entry) => {
    const reached = reachedFrom(entry);
    expect(reached.length).toBeGreaterThan(30);
    expect(reached.filter((path) => /^(auth\/|node\/auth\/|auth\.ts|login\.ts|jose|oauth4webapi)/.test(path))).toEqual(
      [],
    );
  });

  it("where the walk finds the code of those that do", () => {
    const reached = reachedFrom("auth.ts");
    expect(reached).toEqual(expect.arrayContaining(["auth/resource/resource-server.ts", "jose", "oauth4webapi"]));
  });
});
