// Checks what a user of the command line would install: packs @parley/cli and what it depends on, lints the first, and uses it in
// a fresh project: a server from `parley init` is checked, tested and called, and inspected in a page.
//
// Usage: node scripts/check-cli-package.mjs      after `npm run build`
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { installInto, pack } from "./pack-package.mjs";

const root = resolve(import.meta.dirname, "..");
// Outside the repository, so that nothing of it can be found by accident.
const place = realpathSync(mkdtempSync(join(tmpdir(), "parley-cli-package-")));
const installed = join(place, "node_modules/@parley/cli");
const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));

try {
  const [cli, ...others] = ["cli", "inspector", "mcp"].map((name) => pack(name, place));
  execFileSync(join(root, "node_modules/.bin/publint"), ["run", cli, "--strict"], { cwd: root, stdio: "inherit" });
  install(cli, ...others);
  checkContents();
  useIt();
  await inspectIt();
  makeProject(cli, ...others);
} finally {
  rmSync(place, { recursive: true, force: true });
}

function install(...tarballs) {
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  installInto(place, ...tarballs);
}

function checkContents() {
  const own = ["README.md", "LICENSE", "CHANGELOG.md"].filter((name) => readFileSync(join(installed, name)).length > 0);
  expect(own.length === 3, "it has a README, a licence and a changelog");
  const { bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(
    readFileSync(join(installed, bin.parley), "utf8").startsWith("#!/usr/bin/env node\n"),
    "its program starts with Node",
  );
  expect((statSync(join(place, "node_modules/.bin/parley")).mode & 0o111) !== 0, "its program can be started");
}

function useIt() {
  expect(parley("--version") === version, `parley --version says ${version}`);
  const server = `
import { Server } from "@parley/mcp";
export const server = new Server({ name: "mine", version: "1" }).tool("greet", () => "hello" as string);`;
  writeFileSync(join(place, "server.ts"), server);
  expect(parley("call", "./server.ts", "greet") === "hello", "it loads and calls a server of the project");
  expect(
    parley("call", "greet", "--", "node_modules/.bin/parley", "run", "./server.ts", "--stdio") === "hello",
    "it starts and calls a server over stdio",
  );
}

/** The page of the inspector comes with the package. */
async function inspectIt() {
  const inspecting = spawn(join(place, "node_modules/.bin/parley"), ["inspect", "./server.ts", "--no-open", "--json"], {
    cwd: place,
  });
  try {
    const [line] = await once(createInterface({ input: inspecting.stdout }), "line");
    const { url } = JSON.parse(line);
    const { status, headers } = await fetch(url);
    const cookie = headers.get("set-cookie").split(";")[0];
    const script = await fetch(new URL("/inspector.js", url), { headers: { cookie } });
    expect(status === 200 && script.status === 200, "it shows the inspector");
  } finally {
    inspecting.kill();
  }
}

/** What `parley init` makes passes its own tests once the packages are there. */
function makeProject(...tarballs) {
  parley("init", "made", "--yes");
  const made = join(place, "made");
  installInto(made, ...tarballs);
  execFileSync("npm", ["test"], { cwd: made, stdio: "ignore" });
  expect(
    parley("list", "./made/src/server.ts", "tools").includes("add"),
    "a project of `parley init` passes its tests",
  );
}

function parley(...args) {
  const options = { cwd: place, encoding: "utf8", env: { ...process.env, HOME: place } };
  return execFileSync(join(place, "node_modules/.bin/parley"), args, options).trim();
}

function expect(holds, what) {
  if (!holds) throw new Error(`@parley/cli: it does not hold that ${what}`);
  console.log(what);
}
