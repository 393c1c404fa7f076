// Packs all packages of this checkout and installs the command line for the user, or the packages into a project.
//
// Usage: npm run install:local      npm run install:local -- folder
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { problemOf } from "./check-build.mjs";
import { LOCAL_PACKAGES, pack, tarballName } from "./pack-package.mjs";
import { publishedPackages } from "./workspace-packages.mjs";

const root = resolve(import.meta.dirname, "..");
const place = join(root, "dist/packages");
const folder = process.argv[2] && resolve(process.env["INIT_CWD"] ?? ".", process.argv[2]);
const packages = publishedPackages(root);
const tarballs = Object.fromEntries(
  packages.map(({ manifest }) => [manifest.name, join(place, tarballName(manifest))]),
);
const programs = packages.filter(({ manifest }) => manifest.bin !== undefined);

if (folder !== undefined && !existsSync(join(folder, "package.json"))) {
  console.error(`there is no package.json in ${folder}; fix: Create it with \`npm init -y\`, or name another folder.`);
  process.exit(2);
}
if (packages.some((one) => problemOf(one.folder) !== undefined)) npm(root, "run", "--silent", "build");
packAll();
if (folder === undefined) installForUser();
else installIntoProject(folder);

/** Programs are packed with the paths of the tarballs, to which the projects that they create then refer. */
function packAll() {
  const files = programs.map((one) => join(one.folder, "dist", LOCAL_PACKAGES));
  process.env["PARLEY_LOCAL_PACKAGES"] = "1";
  mkdirSync(place, { recursive: true });
  try {
    for (const file of files) writeFileSync(file, `${JSON.stringify(tarballs, null, 2)}\n`);
    for (const { name } of packages) pack(name, place);
  } finally {
    for (const file of files) rmSync(file, { force: true });
  }
}

/** Installs the programs and what they need in one command, since npm would look for the rest on its registry. */
function installForUser() {
  const needed = new Set(
    programs.flatMap(({ manifest }) => [manifest.name, ...Object.keys(manifest.dependencies ?? {})]),
  );
  const names = Object.keys(tarballs).filter((name) => needed.has(name));
  npm(place, "install", "--global", ...names.map((name) => tarballs[name]));
  const { version } = packages.find(({ manifest }) => manifest.name === "@parley/cli").manifest;
  console.log(`Installed parley ${version} into ${output("prefix", "--global")}. Next:`);
  console.log("  parley --version\n  parley init my-server");
}

function installIntoProject(project) {
  npm(project, "install", tarballs["@parley/mcp"]);
  npm(project, "install", "--save-dev", tarballs["@parley/cli"], tarballs["@parley/inspector"]);
  console.log(`Installed @parley/mcp and @parley/cli into ${project}. Next, in that folder:`);
  console.log("  npx @parley/cli --version\n  npx @parley/cli --help");
}

function npm(cwd, ...words) {
  const options = words[0] === "install" ? ["--no-audit", "--no-fund", "--loglevel=error"] : [];
  execFileSync("npm", [...words, ...options], { cwd, stdio: "inherit", shell: process.platform === "win32" });
}

function output(...words) {
  return execFileSync("npm", words, { cwd: place, encoding: "utf8", shell: process.platform === "win32" }).trim();
}
