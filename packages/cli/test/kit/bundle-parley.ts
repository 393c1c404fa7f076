import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const library = join(root, "packages/mcp/src");

/**
 * Bundles the command line with the sources of the library into files that plain Node runs, and returns the path of the program.
 * Tests of its processes then need no build, and run what the other tests run.
 */
export async function bundleParley(): Promise<string> {
  const build = await rolldown({
    input: { parley: join(root, "packages/cli/src/parley.ts") },
    platform: "node",
    tsconfig: false,
    // Node 20 knows no `await using`.
    transform: { target: "node20" },
    logLevel: "silent",
    resolve: {
      alias: {
        "@parley/mcp/storage/sqlite": join(library, "storage-sqlite.ts"),
        "#platform": join(library, "node/platform.ts"),
        "#transports": join(library, "node/entry/transports.ts"),
      },
    },
    plugins: [
      {
        name: "sources-of-the-library",
        resolveId: (id) => {
          if (id === "@parley/inspector") return join(root, "packages/inspector/src/index.ts");
          const [, entry] = /^@parley\/mcp(?:\/([a-z-]+))?$/.exec(id) ?? [id, null];
          return entry === null ? undefined : join(library, `${entry ?? "index"}.ts`);
        },
      },
    ],
    external: (id) => !/^[./#]/.test(id) && !/^(?:@parley\/|@oxc-project\/)/.test(id),
  });
  const { output } = await build.generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  const digest = createHash("sha256");
  for (const file of output) digest.update(file.type === "chunk" ? file.code : file.source);
  // Below the package, so that what it depends on is found.
  const folder = join(root, "packages/cli/node_modules/.cache/parley", digest.digest("hex").slice(0, 12));
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`;
    mkdirSync(draft, { recursive: true });
    await build.write({ dir: draft, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" });
    try {
      renameSync(draft, folder);
    } catch (reason) {
      // Another test file was faster, and bundled the same.
      if (!existsSync(folder)) throw reason;
      rmSync(draft, { recursive: true });
    }
  }
  await build.close();
  return join(folder, "parley.js");
}
