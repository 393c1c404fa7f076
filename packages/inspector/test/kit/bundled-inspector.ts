import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildPage } from "../../build-page.mjs";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const library = join(root, "packages/mcp/src");
const index = join(root, "packages/inspector/src/index.ts");

/**
 * A program that plain Node runs, bundled with the sources of the package and the library. The page is beside it, as in the package,
 * and the package is installed for it, because no bundler follows how a server loads it.
 */
export async function bundleInspector(program: string): Promise<string> {
  const folder = join(root, "packages/inspector/node_modules/.cache/parley", `${process.pid}`);
  const build = await rolldown({
    input: { program, inspector: index },
    platform: "node",
    tsconfig: false,
    transform: { target: "node20" },
    logLevel: "silent",
    resolve: {
      alias: {
        "@parley/inspector": index,
        "#platform": join(library, "node/platform.ts"),
        "#transports": join(library, "node/entry/transports.ts"),
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
  const installed = join(folder, "node_modules/@parley/inspector");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, "package.json"), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(installed, "index.js"), 'export { inspect } from "../../../inspector.js";');
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "program.js");
}
