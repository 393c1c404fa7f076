// Checks what a user would install: packs the library, lints the package and its types, compares what it exports and loads
// with the sources, and compiles and runs a program of a fresh project that has nothing but the package.
//
// Usage: node scripts/check-package.mjs      after `npm run build`
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { compileProgram, installInto, LEAST_COMPILER, NODE_TYPES, packed } from "./pack-package.mjs";
import { exportedNames, loadedFiles } from "./package-files.mjs";

const root = resolve(import.meta.dirname, "..");
const library = join(root, "packages/mcp");
// Outside the repository, so that nothing of it can be found by accident.
const place = realpathSync(mkdtempSync(join(tmpdir(), "parley-package-")));
const installed = join(place, "node_modules/@parley/mcp");
const manifest = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
/** What people import, by the name of its file: `storage-sqlite` is `@parley/mcp/storage/sqlite`. */
const specifiers = new Map(
  Object.keys(manifest.exports)
    .filter((key) => !key.endsWith(".json"))
    .map((key) => [key === "." ? "index" : key.slice(2).replaceAll("/", "-"), `@parley/mcp${key.slice(1)}`]),
);
/** The most that the package may have and weigh, in bytes; `installed` counts the blocks of its dependencies too. */
const BUDGET = { entryCount: 400, size: 1_000_000, unpackedSize: 4_000_000, installed: 5_500_000 };
const entryNames = [...specifiers.keys()];
const specifierOf = (name) => specifiers.get(name);
/** Fails to compile where the types of Node are there and not used. */
const typedByNode = `
import { createServer } from "node:http";
import { Server } from "@parley/mcp";
import { nodeHandler } from "@parley/mcp/node";
const handler = nodeHandler(new Server({ name: "s", version: "1" }));
createServer(handler);
// @ts-expect-error: a request of Node is no text
handler("text", "text");
`;

try {
  const { tarball, ...figures } = packed("mcp", place);
  lint(tarball);
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  // As a user installs it: its dependencies from the registry, and no optional peer.
  installInto(place, tarball);
  checkBudget({ ...figures, installed: bytesOnDisk(join(place, "node_modules")) });
  checkContents();
  for (const runtime of ["node", "web"]) checkFiles(runtime);
  importEntries();
  startWithoutHttp();
  await findWorkerProgram();
  refuseOtherRuntimes();
  goToDefinitions();
  compile();
} finally {
  rmSync(place, { recursive: true, force: true });
}

function lint(tarball) {
  const run = (tool, ...args) =>
    execFileSync(join(root, "node_modules/.bin", tool), args, { cwd: root, stdio: "inherit" });
  run("publint", "run", tarball, "--strict");
  // There is no CommonJS build: `require` reaches the ES modules on every Node that can do it.
  run("attw", tarball, "--profile", "esm-only", "--format", "table-flipped", "--no-emoji");
}

function checkBudget(figures) {
  for (const [name, most] of Object.entries(BUDGET))
    expect(figures[name] <= most, `${name} is ${figures[name]}, at most ${most}`);
}

/** What a folder takes on a disk with blocks of 4096 bytes. */
function bytesOnDisk(folder) {
  const paths = readdirSync(folder, { recursive: true }).map((path) => join(folder, path));
  return paths.map((path) => Math.ceil(statSync(path).size / 4096) * 4096).reduce((sum, bytes) => sum + bytes, 0);
}

function checkContents() {
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
  const readme = readFileSync(join(installed, "README.md"), "utf8");
  expect(!/\]\((?!https:|#)/.test(readme), "every link of README.md is absolute, because npm shows it elsewhere");
  const targets = Object.values(manifest.imports).flatMap((target) => Object.values(target));
  expect(
    targets.every((target) => existsSync(join(installed, target))),
    `all ${targets.length} targets of \`imports\` are in the package`,
  );
}

/** Each entry exports what its source does, and loads no more than it has to. */
function checkFiles(runtime) {
  const condition = runtime === "node" ? "node" : "default";
  const fileOf = (name) => {
    const target = manifest.exports[`.${specifierOf(name).slice("@parley/mcp".length)}`];
    return posix.normalize(target[condition] ?? target.default);
  };
  for (const name of entryNames) {
    const wanted = exportedNames(readFileSync(join(library, `src/${name}.ts`), "utf8"));
    const built = exportedNames(readFileSync(join(installed, fileOf(name)), "utf8"));
    expect(wanted.join() === built.join(), `${runtime}: ${fileOf(name)} exports exactly ${wanted.length} names`);
  }
  const loaded = (name, later) => loadedFiles(installed, fileOf(name), { condition, later });
  const started = (name) =>
    loaded(name, false)
      .map((file) => file.replace(`dist/run-${runtime}/`, ""))
      .join(" ");
  expect(started("index") === "core.js index.js", `${runtime}: the root loads one file, core.js`);
  if (runtime === "node") {
    expect(started("node") === "core-node.js core.js node.js", "node: /node loads one file more, core-node.js");
    return;
  }
  const everything = entryNames
    // These are for Node alone.
    .filter((name) => !["node", "login", "storage-sqlite"].includes(name))
    .flatMap((name) => loaded(name, true));
  const ofNode = everything.filter((file) => /node/.test(file));
  expect(
    ofNode.length === 0,
    `web: no entry but /node, /login and /storage/sqlite ever loads a file for Node ${ofNode.join(" ")}`,
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

/** An isolated tool finds the program of its worker, also when a bundler has moved the code that starts it. */
async function findWorkerProgram() {
  writeFileSync(join(place, "crunch.mjs"), 'export default () => "crunched";\n');
  const program = `
    import { pathToFileURL } from "node:url";
    import { connect, Server } from "@parley/mcp";
    import { isolated } from "@parley/mcp/node";
    const crunch = isolated(pathToFileURL("crunch.mjs"));
    const client = await connect(new Server({ name: "s", version: "1" }).tool("crunch", crunch));
    console.log(await client.call("crunch"));
    await client.close();
    process.exit();`;
  writeFileSync(join(place, "isolating.mjs"), program);
  const bundle = await rolldown({ cwd: place, input: "isolating.mjs", platform: "node", logLevel: "silent" });
  await bundle.write({ dir: join(place, "bundled"), format: "esm" });
  await bundle.close();
  for (const file of ["isolating.mjs", "bundled/isolating.js"]) {
    const printed = execFileSync(process.execPath, [file], { cwd: place, encoding: "utf8" }).trim();
    expect(printed === "crunched", `${file}: an isolated tool finds the program of its worker`);
  }
}

/** Where Node's modules cannot be had, `/node` says so in one sentence; the root can still be imported. */
function refuseOtherRuntimes() {
  const web = (path) => pathToFileURL(join(installed, "dist", path)).href;
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
  const browser = `const { log } = console; globalThis.process = undefined; await import("${web("run-web/index.js")}");`;
  const told = runScript(`${browser} ${importing(web("run-web/node.js")).replace("console.log", "log")}`);
  expect(/^Node 20\.19 or later[^\n]*\.$/.test(told), "a browser that imports /node is told in one sentence");
  const sqlite = `const m = await import("${web("storage-sqlite.js")}");`;
  const calling = 'try { m.sqliteStorage({ file: "never.db" }) } catch (error) { log(error.name, error.reason) }';
  const refused = runScript(`${browser} ${sqlite} ${calling}`);
  expect(refused === "StorageFailure unsupported", "/storage/sqlite can be imported anywhere, and says where it works");
}

/** In an editor, a name leads to its declaration with its comment, and to its source in readable JavaScript. */
function goToDefinitions() {
  const uses = { Server: "index", connect: "index", serveStdio: "node", Host: "host", resourceServer: "auth" };
  const names = Object.keys(uses);
  const file = join(place, "navigation.mts");
  const lines = names.map((name) => `import { ${name} } from "${specifierOf(uses[name])}";`);
  writeFileSync(file, [...lines, ...names, ""].join("\n"));
  writeFileSync(
    join(place, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { module: "nodenext" }, files: [file] }),
  );
  const commands = ["definition", "findSourceDefinition"];
  const questions = names.flatMap((_name, at) =>
    commands.map((command) => ({ command, arguments: { file, line: names.length + at + 1, offset: 1 } })),
  );
  const answers = askEditorService([{ command: "open", arguments: { file } }, ...questions]).slice(1);
  for (const [at, name] of names.entries()) {
    const [declared, source] = answers.slice(at * 2, at * 2 + 2).map(([found]) => ({
      file: found.file.slice(installed.length + 1),
      lines: readFileSync(found.file, "utf8").split("\n").slice(0, found.start.line).reverse(),
    }));
    const isExplained = /^dist\/.*\.d\.ts$/.test(declared.file) && /\*\/$/.test(declared.lines[1]);
    expect(isExplained, `${name} leads to its declaration and comment, in ${declared.file}`);
    const isReadable =
      /^dist\/.*\.js$/.test(source.file) && source.lines[0].includes(name) && source.lines[0].length < 120;
    expect(isReadable, `${name} leads to its source, in ${source.file}`);
  }
}

/** The bodies of the compiler's answers to an editor, in the order of the requests. */
function askEditorService(requests) {
  const server = [join(root, "node_modules/typescript/lib/tsserver.js"), "--disableAutomaticTypingAcquisition"];
  const input = requests.map((request, seq) => `${JSON.stringify({ seq, type: "request", ...request })}\n`).join("");
  const output = execFileSync(process.execPath, server, { cwd: place, input, encoding: "utf8" });
  const messages = output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  return requests.map((_, seq) => messages.find((one) => one.type === "response" && one.request_seq === seq)?.body);
}

/** The declarations must stand on their own in a user's program, without the types of Node and the web and with both. */
function compile() {
  const program = `${entryNames.map((name, at) => `export * as entry${at} from "${specifierOf(name)}";`).join("\n")}\n`;
  installInto(place, LEAST_COMPILER);
  compileProgram(place, program, { lib: ["es2022"], types: [] });
  installInto(place, NODE_TYPES);
  compileProgram(place, `${program}${typedByNode}`, { lib: ["es2022"] });
  compileProgram(place, `${program}${typedByNode}`);
}

function runScript(script) {
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: place, encoding: "utf8" }).trim();
}

function expect(holds, what) {
  if (!holds) throw new Error(`the package: it does not hold that ${what}`);
  console.log(what);
}
