import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const source = (path: string) => join(root, "packages/mcp/src", path);

/** The sources of what users import. The longer names come first, because the bundler takes the first that begins a name. */
const { exports } = JSON.parse(readFileSync(source("../package.json"), "utf8")) as { exports: Record<string, unknown> };
const ENTRIES = Object.fromEntries(
  Object.keys(exports)
    .filter((key) => !key.endsWith(".json"))
    .map((key) => [key, key === "." ? "index" : key.slice(2).replaceAll("/", "-")] as const)
    .map(([key, name]) => [`@parley/mcp${key.slice(1)}`, source(`${name}.ts`)] as const)
    .sort(([a], [b]) => b.length - a.length),
);

/**
 * Bundles a TypeScript fixture with the library's sources into one file that plain Node runs, and returns its path.
 * Tests of processes then need no build, and run what the other tests run.
 */
export async function bundleFixture(file: URL): Promise<string> {
  const path = fileURLToPath(file);
  const build = await rolldown({
    input: path,
    platform: "node",
    tsconfig: false,
    logLevel: "silent",
    resolve: {
      alias: {
        "@parley/mcp/apps-view": source("apps-view.ts"),
        ...ENTRIES,
        "@parley/redis": join(root, "packages/redis/src/index.ts"),
        "#platform": source("node/platform.ts"),
        "#transports": source("node/entry/transports.ts"),
      },
    },
    external: (id) => id.startsWith("node:") || id === "ws",
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  const digest = createHash("sha256").update(output[0].code).digest("hex").slice(0, 12);
  // Inside the repository, so that packages which are loaded at run time are found.
  const folder = join(root, "node_modules/.cache/parley/fixtures");
  const bundled = join(folder, `${basename(path, ".ts")}-${digest}.mjs`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${bundled}.${process.pid}`, output[0].code);
  renameSync(`${bundled}.${process.pid}`, bundled);
  return bundled;
}
