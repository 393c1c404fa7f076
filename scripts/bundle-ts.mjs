// Node 20 cannot load TypeScript, so a program's own files are bundled into one module; packages, ours too, stay
// imports, so that the program runs what a user would install.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");

/** Each source file keeps its own `import.meta.url`, so that it finds what lies beside it and not beside the bundle. */
const keepOwnPlace = {
  name: "keep-own-place",
  transform(code, id) {
    if (!code.includes("import.meta.")) return null;
    const literal = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id };
    const own = code.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) => JSON.stringify(literal[name]));
    // No line moves, so the existing source map stays good enough for a stack trace.
    return { code: own, map: null };
  },
};

/** Bundles one program and returns the path of a file that plain Node runs. */
export async function bundleProgram(entry) {
  const build = await rolldown({
    input: resolve(entry),
    platform: "node",
    tsconfig: false,
    external: (id) => !/^[./]/.test(id),
    plugins: [keepOwnPlace],
    logLevel: "warn",
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false, sourcemap: "inline" });
  await build.close();
  const code = output[0].code;
  const digest = createHash("sha256").update(code).digest("hex").slice(0, 12);
  const folder = join(root, "node_modules/.cache/parley");
  const file = join(folder, `${basename(dirname(resolve(entry)))}-${basename(entry, ".ts")}-${digest}.mjs`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, code);
    renameSync(`${file}.${process.pid}`, file);
  }
  return file;
}
