// Checks what a user would install: packs the library, lints the package and its types, and imports every entry.
//
// Usage: node scripts/check-package.mjs      after `npm run build`
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const library = join(root, "packages/mcp");
const place = join(root, "node_modules/.cache/parley/packed");
const installed = join(place, "node_modules/@parley/mcp");

rmSync(place, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", place], { cwd: library }));
const tarball = join(place, packed.filename.replace("@", "").replace("/", "-"));
console.log(`packed ${packed.entryCount} files, ${packed.unpackedSize} bytes`);

const run = (tool, ...args) =>
  execFileSync(join(root, "node_modules/.bin", tool), args, { cwd: root, stdio: "inherit" });
run("publint", "run", tarball, "--strict");
// There is no CommonJS build: `require` reaches the ES modules on every Node that can do it.
run("attw", tarball, "--profile", "esm-only", "--format", "table-flipped", "--no-emoji");

// Unpacked below the repository's node_modules, so that its dependencies resolve and its own name does not reach the source.
execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
const { exports: entries } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
const uses = Object.keys(entries).filter((name) => !name.endsWith(".json"));
for (const entry of uses) {
  const specifier = join("@parley/mcp", entry);
  const script = `const m = await import(${JSON.stringify(specifier)}); console.log(Object.keys(m).length)`;
  const names = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: place, encoding: "utf8" });
  console.log(`${specifier}: imports, ${names.trim()} names`);
}

// The declarations must stand on their own in a user's program, checked in full, with both supported compilers.
const program = uses.map((entry, at) => `export * as entry${at} from ${JSON.stringify(join("@parley/mcp", entry))};`);
writeFileSync(join(place, "consumer.mts"), `${program.join("\n")}\n`);
const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", skipLibCheck: false };
const config = {
  compilerOptions: { ...compilerOptions, lib: ["es2022", "dom"], types: ["node"] },
  files: ["consumer.mts"],
};
writeFileSync(join(place, "tsconfig.json"), JSON.stringify(config));
for (const compiler of ["typescript", "typescript-7"]) {
  execFileSync(process.execPath, [join(root, "node_modules", compiler, "bin/tsc"), "-p", place], { stdio: "inherit" });
  console.log(`${compiler}: the declarations of ${uses.length} entries compile`);
}
