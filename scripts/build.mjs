// Builds the packages: declarations by `tsc`, JavaScript by each `rolldown.config.js`, the declarations bundled by entry, and
// the documents that npm shows. Prints nothing but warnings and errors.
//
// Usage: npm run build
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { bundleDeclarations } from "./bundle-declarations.mjs";
import { recordBuild } from "./check-build.mjs";
import { copyDocuments } from "./copy-documents.mjs";

const root = resolve(import.meta.dirname, "..");
const folders = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name));
const packages = folders.filter((folder) => existsSync(join(folder, "rolldown.config.js")));

const projects = packages.flatMap((folder) =>
  ["tsconfig.lib.json", "tsconfig.node.json"].map((name) => join(folder, name)).filter((path) => existsSync(path)),
);
execFileSync(process.execPath, [join(root, "node_modules/typescript/lib/tsc.js"), "-b", ...projects], {
  stdio: "inherit",
});
for (const folder of folders) rmSync(join(folder, "dist"), { recursive: true, force: true });
for (const folder of packages) {
  const { default: configs } = await import(pathToFileURL(join(folder, "rolldown.config.js")).href);
  for (const { output, ...input } of [configs].flat()) {
    const build = await rolldown({ ...input, logLevel: "warn" });
    await build.write(output);
    await build.close();
  }
  await bundleDeclarations(folder);
}
copyDocuments();
recordBuild();
