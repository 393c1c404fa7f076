// Checks what a user would install: packs the library, lints the package and its types, compares what it exports and loads
// with the sources, and compiles and runs a program of a fresh project that has nothing but the package.
//
// Usage: node scripts/check-package.mjs      after `npm run build`
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { exportedNames, loadedFiles } from "./package-files.mjs";

const root = resolve(import.meta.dirname, "..");
const library = join(root, "packages/mcp");
// Outside the repository, so that nothing of it can be found by accident.
const place = realpathSync(mkdtempSync(join(tmpdir(), "parley-package-")));
const installed = join(place, "node_modules/@parley/mcp");
/** What people import, by the name of its file: `storage-sqlite` is `@parley/mcp/storage/sqlite`. */
const specifiers = new Map(
  Object.keys(JSON.parse(readFileSync(join(library, "package.json"), "utf8")).exports)
    .filter((key) => !key.endsWith(".json"))
    .map((key) => [key === "." ? "index" : key.slice(2).replaceAll("/", "-"), `@parley/mcp${key.slice(1)}`]),
);
const entryNames = [...specifiers.keys()];
const specifierOf = (name) => specifiers.get(name);

try {
  const tarball = pack();
  lint(tarball);
  install(tarball);
  checkContents();
  for (const runtime of ["node", "web"]) checkFiles(join(installed, `dist/run-${runtime}`), runtime);
  importEntries();
  startWithoutHttp();
  refuseOtherRuntimes();
  compile();
} finally {
  rmSync(place, { recursive: true, force: true });
}

function pack() {
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", place], { cwd: library }));
  console.log(`packed ${packed.entryCount} files, ${packed.size} bytes, unpacked ${packed.unpackedSize}`);
  return join(place, packed.filename.replace("@", "").replace("/", "-"));
}

function lint(tarball) {
  const run = (tool, ...args) =>
    execFileSync(join(root, "node_modules/.bin", tool), args, { cwd: root, stdio: "inherit" });
  run("publint", "run", tarball, "--strict");
  // There is no CommonJS build: `require` reaches the ES modules on every Node that can do it.
  run("attw", tarball, "--profile", "esm-only", "--format", "table-flipped", "--no-emoji");
}

/** As a user installs it: its dependencies from the registry, the types of Node, and no optional peer. */
function install(tarball) {
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const words = ["install", tarball, `@types/node@${devDependencies["@types/node"]}`];
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];
  execFileSync("npm", [...words, ...options], { cwd: place, stdio: "inherit" });
}

function checkContents() {
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(manifest.imports === undefined, "package.json needs no `imports`");
  for (const key of ["license", "homepage", "bugs", "repository"])
    expect(key in manifest, `package.json has \`${key}\``);
  for (const [name, folder] of [
    ["README.md", library],
    ["LICENSE", root],
    ["CHANGELOG.md", root],
  ]) {
    const same = readFileSync(join(installed, name), "utf8") === readFileSync(join(folder, name), "utf8");
    expect(same, `${name} is the repository's`);
  }
  for (const map of ["dist/run-node/chunks/core.js.map", "dist/run-web/chunks/core.js.map"]) {
    const { sources } = JSON.parse(readFileSync(join(installed, map), "utf8"));
    for (const source of sources) readFileSync(resolve(installed, map, "..", source));
    console.log(`${map}: all ${sources.length} sources are in the package`);
  }
}

/** Each entry exports what its source does, and loads no more than it has to. */
function checkFiles(folder, runtime) {
  for (const name of entryNames) {
    const wanted = exportedNames(readFileSync(join(library, `src/${name}.ts`), "utf8"));
    const built = exportedNames(readFileSync(join(folder, `${name}.js`), "utf8"));
    expect(wanted.join() === built.join(), `run-${runtime}/${name}.js exports exactly ${wanted.length} names`);
  }
  const started = (name) => loadedFiles(folder, `${name}.js`, false).join(" ");
  const atStart = "chunks/core.js";
  expect(started("index") === `${atStart} index.js`, `run-${runtime}: the root loads one file, ${atStart}`);
  if (runtime === "node") {
    expect(
      started("node") === `chunks/core-node.js ${atStart} node.js`,
      "run-node: /node loads one file more, chunks/core-node.js",
    );
    return;
  }
  const everything = entryNames
    // These are for Node alone.
    .filter((name) => !["node", "login", "storage-sqlite"].includes(name))
    .flatMap((name) => loadedFiles(folder, `${name}.js`, true));
  const ofNode = everything.filter((file) => /node/.test(file));
  expect(
    ofNode.length === 0,
    `run-web: no entry but /node, /login and /storage/sqlite ever loads a file for Node ${ofNode.join(" ")}`,
  );
}

function importEntries() {
  for (const name of entryNames) {
    const script = `const m = await import("${specifierOf(name)}"); console.log(Object.keys(m).sort().join())`;
    const wanted = exportedNames(readFileSync(join(library, `src/${name}.ts`), "utf8"));
    expect(runScript(script) === wanted.join(), `${specifierOf(name)} can be imported`);
  }
}

/** A program that serves over stdio must not pay for HTTP. */
function startWithoutHttp() {
  const serving = `await import("${specifierOf("index")}"); await import("${specifierOf("node")}");`;
  const loaded =
    "process.moduleLoadList.filter((one) => /^NativeModule (http|https|http2|tls|zlib)$/.test(one)).join()";
  expect(runScript(`${serving} console.log(${loaded})`) === "", "importing `serveStdio` loads no HTTP module of Node");
}

/** Where Node's modules cannot be had, `/node` says so in one sentence; the root can still be imported. */
function refuseOtherRuntimes() {
  const web = (name) => pathToFileURL(join(installed, `dist/run-web/${name}.js`)).href;
  const old = 'process.getBuiltinModule = undefined; await import("@parley/mcp");';
  const importing = (specifier) => `await import("${specifier}").catch((error) => console.log(error.message))`;
  expect(
    /^Node 20\.19 or later.* this is Node [^\n]*\.$/.test(runScript(`${old} ${importing(specifierOf("node"))}`)),
    "an old Node that imports /node is told in one sentence",
  );
  const early = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.16.0" } });';
  expect(
    runScript(`${early} ${importing(specifierOf("node"))}`).includes("this is Node 20.16.0"),
    "a Node below 20.19 that has the modules is told the same",
  );
  const browser = `const { log } = console; globalThis.process = undefined; await import("${web("index")}");`;
  const told = runScript(`${browser} ${importing(web("node")).replace("console.log", "log")}`);
  expect(/^Node 20\.19 or later[^\n]*\.$/.test(told), "a browser that imports /node is told in one sentence");
  const sqlite = `const m = await import("${web("storage-sqlite")}");`;
  const calling = 'try { m.sqliteStorage({ file: "never.db" }) } catch (error) { log(error.name, error.reason) }';
  const refused = runScript(`${browser} ${sqlite} ${calling}`);
  expect(refused === "StorageFailure unsupported", "/storage/sqlite can be imported anywhere, and says where it works");
}

/** The declarations must stand on their own in a user's program, checked in full, with both supported compilers. */
function compile() {
  const program = entryNames.map((name, at) => `export * as entry${at} from "${specifierOf(name)}";`);
  writeFileSync(join(place, "consumer.mts"), `${program.join("\n")}\n`);
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", skipLibCheck: false };
  const config = {
    compilerOptions: { ...compilerOptions, lib: ["es2022", "dom"], types: ["node"] },
    files: ["consumer.mts"],
  };
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify(config));
  for (const compiler of ["typescript", "typescript-7"]) {
    const tsc = join(root, "node_modules", compiler, "bin/tsc");
    execFileSync(process.execPath, [tsc, "-p", place], { stdio: "inherit" });
    console.log(`${compiler}: the declarations of ${entryNames.length} entries compile in full, without \`ws\``);
  }
}

function runScript(script) {
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: place, encoding: "utf8" }).trim();
}

function expect(holds, what) {
  if (!holds) throw new Error(`the package: it does not hold that ${what}`);
  console.log(what);
}
