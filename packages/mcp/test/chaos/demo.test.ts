import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

const run = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const source = (name: string) => path(`../../src/${name}`);

/** Builds the demonstration with the library's sources, and what its worker processes load beside it. */
async function build(folder: string): Promise<string> {
  const entries = ["host", "node", "protocol", "transport"].map((name) => [
    `@parley/mcp/${name}`,
    source(`${name}.ts`),
  ]);
  const bundle = await rolldown({
    input: { main: path("./main.ts"), "tool-worker": source("node/isolate/tool-worker.ts") },
    platform: "node",
    tsconfig: false,
    logLevel: "silent",
    resolve: {
      alias: {
        ...Object.fromEntries(entries),
        "@parley/mcp": source("index.ts"),
        "#platform": source("node/platform.ts"),
        "#transports": source("node/entry/transports.ts"),
      },
    },
    external: (id) => id.startsWith("node:") || id === "ws",
  });
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name].js" });
  await bundle.close();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  copyFileSync(path("./worker-tool.mjs"), join(folder, "worker-tool.mjs"));
  return join(folder, "main.js");
}

it("the demonstration loses no call, repeats none that changes something, and leaves no process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-chaos-demo-"));
  try {
    const { stdout } = await run(process.execPath, [await build(folder), "--seconds", "3"], { timeout: 120_000 });
    const counts = Object.fromEntries(
      [...stdout.matchAll(/^([a-z ]+?) +(\d+)(?: |$)/gm)].map(([, name = "", count]) => [name, Number(count)]),
    );
    expect(counts).toMatchObject({ lost: 0, duplicated: 0, "processes left": 0 });
    expect(counts["answered"]).toBeGreaterThan(0);
    expect(counts["restarts"]).toBeGreaterThan(0);
    expect(stdout).toContain("From the blow to the next answer:");
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 150_000);
