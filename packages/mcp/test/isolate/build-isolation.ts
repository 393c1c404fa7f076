import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const source = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

/** The library's sources in a form that workers of plain Node load, and the modules of tools beside them. */
export interface Isolation extends Disposable {
  readonly isolated: typeof import("@parley/mcp/node").isolated;
  readonly isolatedPool: typeof import("@parley/mcp/node").isolatedPool;
  /** The URL of the fixture with this name. */
  url(name: string): URL;
}

/** Builds them into a folder of their own: threads and processes know nothing of the test runner's way to load TypeScript. */
export async function buildIsolation(...fixtures: string[]): Promise<Isolation> {
  const folder = mkdtempSync(join(tmpdir(), "parley-isolation-"));
  const build = await rolldown({
    input: {
      node: source("node.ts"),
      "tool-worker": source("node/isolate/tool-worker.ts"),
      ...Object.fromEntries(fixtures.map((name) => [name, fixture(`${name}.ts`)])),
    },
    platform: "node",
    tsconfig: false,
    logLevel: "silent",
    resolve: {
      alias: {
        "@parley/mcp/node": source("node.ts"),
        "@parley/mcp": source("index.ts"),
        "#platform": source("node/platform.ts"),
        "#transports": source("node/entry/transports.ts"),
      },
    },
    external: (id) => id.startsWith("node:") || id === "ws",
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name].js" });
  await build.close();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const url = (name: string) => new URL(`${name}.js`, `${pathToFileURL(folder)}/`);
  const { isolated, isolatedPool } = (await import(/* @vite-ignore */ url("node").href)) as Isolation;
  return { isolated, isolatedPool, url, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
