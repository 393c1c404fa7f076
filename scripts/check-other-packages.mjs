// Checks the tarballs of the packages beside the library: lints them and their types, and compares what they export with the
// sources. The rehearsal of a release uses them.
//
// Usage: node scripts/check-other-packages.mjs      after `npm run build`
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pack } from "./pack-package.mjs";
import { exportedNames } from "./package-files.mjs";
import { publishedPackages } from "./workspace-packages.mjs";

const root = resolve(import.meta.dirname, "..");
const place = realpathSync(mkdtempSync(join(tmpdir(), "parley-packages-")));

try {
  for (const one of publishedPackages(root).filter(({ name }) => name !== "mcp")) {
    const tarball = pack(one.name, place);
    lint(tarball, one.manifest);
    execFileSync("tar", ["-xzf", tarball, "-C", place]);
    checkContents(one, join(place, "package"));
    rmSync(join(place, "package"), { recursive: true });
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}

function lint(tarball, { exports }) {
  const run = (tool, ...args) =>
    execFileSync(join(root, "node_modules/.bin", tool), args, { cwd: root, stdio: "inherit" });
  run("publint", "run", tarball, "--strict");
  if (exports?.["."] === undefined) return;
  run("attw", tarball, "--profile", "esm-only", "--format", "table-flipped", "--no-emoji");
}

function checkContents({ name, folder, manifest }, unpacked) {
  const expect = (holds, what) => {
    if (!holds) throw new Error(`${manifest.name}: it does not hold that ${what}`);
    console.log(what);
  };
  const documents = ["README.md", "LICENSE", "CHANGELOG.md", ...(existsSync(join(folder, "NOTICE")) ? ["NOTICE"] : [])];
  expect(
    documents.every((path) => readFileSync(join(unpacked, path)).length > 0),
    `it has ${documents.join(", ")}`,
  );
  if (manifest.exports?.["."] !== undefined) {
    const wanted = exportedNames(readFileSync(join(folder, "src/index.ts"), "utf8")).join();
    const built = exportedNames(readFileSync(join(unpacked, manifest.exports["."].default), "utf8")).join();
    expect(wanted === built, `it exports exactly ${wanted}`);
  }
  for (const [program, path] of Object.entries(manifest.bin ?? {})) {
    const text = readFileSync(join(unpacked, path), "utf8");
    expect(text.startsWith("#!/usr/bin/env node\n"), `${program} starts with Node`);
    expect((statSync(join(unpacked, path)).mode & 0o111) !== 0, `${program} can be started`);
  }
  if (name === "inspector") {
    expect(Object.keys(manifest.dependencies).join() === "@parley/mcp", "it depends on @parley/mcp alone");
    const page = readdirSync(join(unpacked, "dist/page")).sort().join();
    expect(page === "index.html,inspector.css,inspector.js", `the files of its page are ${page}`);
  }
  checkMaps(join(unpacked, "dist"));
}

/** Every source that a map names without its text is in the package. */
function checkMaps(dist) {
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".map"))) {
    const { sources, sourcesContent = [] } = JSON.parse(readFileSync(join(dist, file), "utf8"));
    for (const [at, source] of sources.entries())
      if (typeof sourcesContent[at] !== "string") readFileSync(resolve(dist, file, "..", source));
  }
}
