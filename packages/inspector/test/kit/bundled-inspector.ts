import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildPage } from "../../build-page.mjs";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const library = join(root, "packages/mcp/src");

/** A program that plain Node runs, bundled with the sources of the package and the library; the page is beside it, as in the package. */
export async function bundleInspector(program: string): Promise<string> {
  const folder = join(root, "packages/inspector/node_modules/.cache/parley", `${process.pid}`);
  const build = await rolldown({
    input: { program },
    platform: "node",
    tsconfig: false,
    transform: { target: "node20" },
    logLevel: "silent",
    resolve: {
      alias: {
        "@parley/inspector": join(root, "packages/inspector/src/index.ts"),
        "#platform": join(library, "node/platform.ts"),
        "#transports": join(library, "node/transports.ts"),
      },
    },
    plugins: [
      {
        name: "sources-of-the-library",
        resolveId: (id) => {
          const [, entry] = /^@parley\/mcp(?:\/([a-z-]+))?$/.exec(id) ?? [id, null];
          return entry === null ? undefined : join(library, `${entry ?? "index"}.ts`);
        },
      },
    ],
    external: (id) => !/^[./#]/.test(id) && !/^(?:@parley\/|@oxc-project\/)/.test(id),
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" });
  await build.close();
  await buildPage(join(folder, "page"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "program.js");
}
