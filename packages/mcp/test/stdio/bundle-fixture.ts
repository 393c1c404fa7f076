import { createHash } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const source = (path: string) => join(root, "packages/mcp/src", path);

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
        "@parley/mcp/apps": source("apps.ts"),
        "@parley/mcp/auth": source("auth.ts"),
        "@parley/mcp/login": source("login.ts"),
        "@parley/mcp/node": source("node.ts"),
        "@parley/mcp/skills": source("skills.ts"),
        "@parley/mcp/storage": source("storage.ts"),
        "@parley/mcp/testing": source("testing.ts"),
        "@parley/mcp/transport": source("transport.ts"),
        "@parley/mcp": source("index.ts"),
        "#platform": source("node/platform.ts"),
        "#transports": source("node/transports.ts"),
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
