// Runs one TypeScript program of this repository: an example, a fixture, a benchmark.
//
// Node 20 cannot load TypeScript, so the program's own files are bundled into one module; packages, ours too, stay
// imports, so that the program runs what a user would install.
//
// Usage: node scripts/run-ts.mjs [node options] program.ts [arguments]
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");
const at = process.argv.findIndex((word, index) => index > 1 && !word.startsWith("-"));
const [nodeOptions, program, args] = [process.argv.slice(2, at), process.argv[at], process.argv.slice(at + 1)];
if (at < 0 || !existsSync(program)) {
  console.error(`run-ts: there is no program at ${program ?? "(none named)"}`);
  process.exit(2);
}

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

const child = spawn(process.execPath, ["--enable-source-maps", ...nodeOptions, await bundle(program), ...args], {
  stdio: "inherit",
});
// A supervisor signals the process it started; without the relay the program would outlive this one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));

async function bundle(entry) {
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
