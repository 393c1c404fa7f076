// Refuses to pack a package whose build is missing, stale or broken: `prepack` of every package runs this in its folder.
//
// The build ends with `recordBuild`, which stores hashes of what went in and what came out. Times of files would not do: a clone
// gives every file the time of the clone.
//
// Usage: node ../../scripts/check-build.mjs      node scripts/check-build.mjs --record
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { LOCAL_PACKAGES } from "./pack-package.mjs";
import { publishedPackages } from "./workspace-packages.mjs";

const root = resolve(import.meta.dirname, "..");
const record = join(root, "node_modules/.cache/parley/build.json");
/** Documents that the build copies into every package. */
const DOCUMENTS = ["LICENSE", "CHANGELOG.md"];

/** The reason why the package in a folder must not be packed, and its fix. */
export function problemOf(folder) {
  const build = "fix: Run `npm run build` at the root of the repository.";
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!existsSync(join(folder, "dist"))) return `it was not built, dist is missing; ${build}`;
  const missing = entriesOf(manifest).find((path) => !existsSync(join(folder, path)));
  if (missing !== undefined) return `package.json names ${missing}, which does not exist; ${build}`;
  const local = join("dist", LOCAL_PACKAGES);
  if (existsSync(join(folder, local)) && process.env["PARLEY_LOCAL_PACKAGES"] === undefined)
    return `${local} is left over and refers to files of this machine; fix: Remove it.`;
  if (!existsSync(record)) return `no build was recorded as complete; ${build}`;
  const recorded = JSON.parse(readFileSync(record, "utf8"));
  if (recorded.sources !== hashOfSources()) return `the sources changed after the build; ${build}`;
  if (recorded.built[manifest.name] !== hashOfBuilt(folder))
    return `its built files changed after the build, or it was interrupted; ${build}`;
  return failureOf(folder, manifest);
}

/** The files that `exports` and `bin` name, under all conditions. */
function entriesOf({ exports = {}, bin = {} }) {
  const leaves = (value) => (typeof value === "string" ? [value] : Object.values(value).flatMap(leaves));
  return [...leaves(exports), ...leaves(bin)];
}

/** The reason why an entry cannot be imported, or a program cannot be started. */
function failureOf(folder, { name, version, exports = {}, bin = {} }) {
  const entries = Object.keys(exports).filter((key) => !key.endsWith(".json"));
  const script = `for (const entry of ${JSON.stringify(entries)}) await import(${JSON.stringify(name)} + entry.slice(1))`;
  try {
    run(folder, "--input-type=module", "-e", script);
    for (const [program, path] of Object.entries(bin)) {
      const printed = run(folder, path, "--version").trim();
      if (!printed.includes(version))
        return `\`${program} --version\` prints ${JSON.stringify(printed)}, not ${version}`;
    }
  } catch (error) {
    const reason = /^\w*Error.*$/m.exec(error.stderr)?.[0] ?? error.message;
    return `its build does not run: ${reason}`;
  }
}

function run(folder, ...args) {
  return execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Of all packages, since one can be built from the sources of another. Tests and other documents are left out. */
function hashOfSources() {
  const isSource = (path) => !isBuilt(path) && !/\.test\.tsx?$|^README\.md$/.test(path);
  const own = publishedPackages(root).flatMap(({ folder }) =>
    filesBelow(folder)
      .filter(isSource)
      .map((path) => join(folder, path)),
  );
  return hashOf([...own, ...[...DOCUMENTS, "tsconfig.base.json"].map((path) => join(root, path))]);
}

function hashOfBuilt(folder) {
  return hashOf(
    filesBelow(folder)
      .filter(isBuilt)
      .map((path) => join(folder, path)),
  );
}

function isBuilt(path) {
  return path.startsWith("dist/") || DOCUMENTS.includes(path);
}

/** The files below a folder, as sorted paths from it. */
function filesBelow(folder, at = "") {
  return readdirSync(join(folder, at), { withFileTypes: true })
    .filter(({ name }) => !/^(node_modules|test)$|\.(tsbuildinfo|tgz|log)$/.test(name) && name !== LOCAL_PACKAGES)
    .flatMap((entry) => {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(folder, path) : [path];
    })
    .sort();
}

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const text = readFileSync(path);
    hash.update(`${path.slice(root.length)} ${text.length}\n`).update(text);
  }
  return hash.digest("hex");
}

/** Stores the hashes of a complete build. */
export function recordBuild() {
  const built = publishedPackages(root).map(({ folder, manifest }) => [manifest.name, hashOfBuilt(folder)]);
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, JSON.stringify({ sources: hashOfSources(), built: Object.fromEntries(built) }));
}

function main(option) {
  if (option === "--record") return recordBuild();
  const { name } = JSON.parse(readFileSync("package.json", "utf8"));
  const problem = problemOf(process.cwd());
  if (problem === undefined) return;
  console.error(`${name} cannot be packed: ${problem}`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv[2]);
