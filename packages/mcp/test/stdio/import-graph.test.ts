import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveImport } from "../architecture/import-table.js";
import { scanSource } from "../architecture/scan-source.js";

const root = resolve(import.meta.dirname, "../../src");

/** All files and packages that importing a file evaluates, without what it loads later by `import()`. */
function evaluatedBy(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    for (const { text, typeOnly, dynamic } of scanSource(path, readFileSync(join(root, path), "utf8")).imports) {
      if (typeOnly || dynamic) continue;
      const target = text.startsWith("#") ? `node/${text.slice(1)}.ts` : resolveImport(path, text);
      if (target !== undefined && existsSync(join(root, target))) waiting.push(target);
      else packages.add(text);
    }
  }
  return { files, packages };
}

describe("what importing `serveStdio` evaluates", () => {
  const { files, packages } = evaluatedBy("node.ts");

  it("has the server's side of stdio", () => {
    expect([...files]).toContain("node/stdio/stdio-server.ts");
    expect(files.size).toBeGreaterThan(20);
  });

  it("has no HTTP server, no HTTP session, no client, and no package", () => {
    const serving =
      /^(node\/http\/(handler|serve-http|bind)|node\/socket\/.*-server|transport\/http\/(session\/|client\/)|client\/)/;
    expect([...files].filter((path) => serving.test(path))).toEqual([]);
    expect([...files].filter((path) => /^transport\/http\/server\/(server|exchange|fetch-core)/.test(path))).toEqual(
      [],
    );
    expect([...packages].filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect([...packages].filter((name) => /^node:(http|https|http2|tls|net|zlib)$/.test(name))).toEqual([]);
  });
});
