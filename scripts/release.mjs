// Sets the version of all packages, and publishes them. docs/releasing.md has the steps of a release.
//
// Usage, at the root of the repository:
//   node scripts/release.mjs version 1.2.3                             edits the manifests, the sources and the changelog
//   node scripts/release.mjs publish [--registry url] [--dry-run] [--yes]
//   node scripts/release.mjs notes                                     prints the section of the changelog
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { pack } from "./pack-package.mjs";
import { publishedPackages } from "./workspace-packages.mjs";

const root = process.cwd();
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*))?$/;
const CONSTANT = /^(export const [A-Z_]+_VERSION = ")\d+\.\d+\.\d+[^"]*(";)$/m;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { registry: { type: "string" }, "dry-run": { type: "boolean" }, yes: { type: "boolean" } },
  });
  const [command, version, ...more] = positionals;
  if (command === "version" && version !== undefined && more.length === 0) setVersion(version);
  else if (command === "publish" && version === undefined) publish(values);
  else if (command === "notes" && version === undefined) console.log(sectionOf(agreedVersion()).trim());
  else refuse("the command is not known", "Use `version 1.2.3`, `publish` or `notes`.");
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function setVersion(version) {
  if (!VERSION.test(version)) refuse(`"${version}" is not a version`, "Use a form such as 1.2.3 or 1.2.3-rc.1.");
  demandCleanTree();
  for (const { manifest } of publishedPackages(root)) {
    if (compareVersions(version, manifest.version) <= 0)
      refuse(`${version} is not newer than ${manifest.version} of ${manifest.name}`, "Choose a later version.");
  }
  const changelog = cutChangelog(version, new Date().toISOString().slice(0, 10));
  for (const [path, text] of Object.entries({ ...filesAt(version), "CHANGELOG.md": changelog })) {
    writeFileSync(join(root, path), text);
    console.log(`${path}: ${version}`);
  }
}

/** The texts of all files that name the version of the packages, as they are at another version. */
function filesAt(version) {
  const packages = publishedPackages(root);
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const lock = JSON.parse(read("package-lock.json"));
  const files = {};
  for (const { name, folder, manifest } of packages) {
    files[`packages/${name}/package.json`] = toJson(manifestAt(manifest, version, names));
    const locked = lock.packages[`packages/${name}`];
    if (locked === undefined) refuse(`package-lock.json has no ${manifest.name}`, "Run `npm install`.");
    lock.packages[`packages/${name}`] = manifestAt(locked, version, names);
    Object.assign(files, constantsAt(folder, version));
  }
  return { ...files, "package-lock.json": toJson(lock) };
}

/** The sources of a package that have its version in a constant. */
function constantsAt(folder, version) {
  const src = join(folder, "src");
  // A package can be built from the sources of another.
  const names = existsSync(src) ? readdirSync(src, { recursive: true, encoding: "utf8" }) : [];
  const paths = names
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => relative(root, join(src, name)));
  const texts = paths.map((path) => [path, read(path)]).filter(([, text]) => CONSTANT.test(text));
  return Object.fromEntries(texts.map(([path, text]) => [path, text.replace(CONSTANT, `$1${version}$2`)]));
}

/** Packages of one release need each other at its version or later: `^1.0.0-rc.1` admits 1.0.0-rc.2, 1.0.0 and 1.1.0. */
function manifestAt(manifest, version, names) {
  const renewed = (ranges) =>
    Object.fromEntries(Object.entries(ranges).map(([name, range]) => [name, names.has(name) ? `^${version}` : range]));
  const groups = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
  const present = groups.filter((group) => manifest[group] !== undefined);
  return { ...manifest, version, ...Object.fromEntries(present.map((group) => [group, renewed(manifest[group])])) };
}

/** The version of all packages. Refuses a checkout in which one of its places differs. */
function agreedVersion() {
  const { version } = publishedPackages(root)[0].manifest;
  const different = Object.entries(filesAt(version)).filter(([path, text]) => read(path) !== text);
  if (different.length > 0)
    refuse(
      `${different.map(([path]) => path).join(", ")} has another version than ${version}`,
      "Set all with `node scripts/release.mjs version`.",
    );
  return version;
}

/** Above 0 if the first version is newer, by the rules of Semantic Versioning 2.0.0, section 11. */
function compareVersions(a, b) {
  const [one, other] = [VERSION.exec(a), VERSION.exec(b)];
  for (const at of [1, 2, 3]) if (one[at] !== other[at]) return one[at] - other[at];
  const [own = [], its = []] = [one[4]?.split("."), other[4]?.split(".")];
  if (own.length === 0 || its.length === 0) return its.length - own.length;
  for (let at = 0; at < Math.min(own.length, its.length); at += 1) {
    if (own[at] === its[at]) continue;
    const [isNumber, isOtherNumber] = [own[at], its[at]].map((part) => /^\d+$/.test(part));
    if (isNumber && isOtherNumber) return own[at] - its[at];
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return own[at] < its[at] ? -1 : 1;
  }
  return own.length - its.length;
}

function cutChangelog(version, date) {
  const entries = sectionOf("Unreleased");
  if (!/^- /m.test(entries))
    refuse("the section Unreleased of CHANGELOG.md is empty", "Describe the changes of the release there.");
  return read("CHANGELOG.md").replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} - ${date}\n`);
}

/** The text of a section of the changelog, without its heading. */
function sectionOf(name) {
  const sections = read("CHANGELOG.md").split(/^## /m);
  const found = sections.find((text) =>
    new RegExp(`^${name.replaceAll(".", "\\.")}( - \\d{4}-\\d\\d-\\d\\d)?\\n`).test(text),
  );
  if (found === undefined) refuse(`CHANGELOG.md has no section ${name}`, `Add \`## ${name}\`.`);
  return found.slice(found.indexOf("\n") + 1);
}

/** Publishes what the registry does not have yet, so that a release that stopped half way can be continued. */
function publish({ registry, "dry-run": isDry = false, yes = false }) {
  const address = registry ?? npm("config", "get", "registry").stdout.trim();
  if (registry === undefined && !isDry && !yes && process.env["CI"] !== "true")
    refuse(`this publishes to ${address}`, "Add `--yes`, or name another registry with `--registry`.");
  demandCleanTree();
  const version = agreedVersion();
  sectionOf(version);
  const tags = git("tag", "--points-at", "HEAD").split("\n");
  if (!isDry && !tags.includes(`v${version}`))
    refuse(`the commit has no tag v${version}`, `Create it with \`git tag v${version}\`.`);
  const place = mkdtempSync(join(tmpdir(), "parley-release-"));
  try {
    const all = publishedPackages(root).map(({ name, manifest }) => ({
      id: `${manifest.name}@${version}`,
      tarball: pack(name, place),
    }));
    // All are compared before the first is sent.
    const missing = all.filter(({ id, tarball }) => !isPublished(id, tarball, address));
    for (const { id, tarball } of missing) {
      if (!isDry) send(tarball, version, address);
      console.log(`${isDry ? "would publish" : "published"} ${id}`);
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** True if the registry has this version with this content. Refuses one with other content. */
function isPublished(id, tarball, registry) {
  const { status, stdout } = npm("view", id, "dist.integrity", "--json", "--prefer-online", "--registry", registry);
  const answer = stdout.trim() === "" ? undefined : JSON.parse(stdout);
  if (status !== 0 && answer?.error?.code === "E404") return false;
  if (status !== 0) refuse(`${registry} did not tell whether it has ${id}: ${answer?.error?.summary}`, "Try again.");
  if (answer === undefined) return false;
  const own = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (answer !== own)
    refuse(`${registry} has ${id} with other content`, "Set a new version; a published one cannot be replaced.");
  console.log(`skipped ${id}: it is published`);
  return true;
}

function send(tarball, version, registry) {
  // Without a token of the workflow there is no provenance, and npm would refuse to publish.
  const hasIdentity = process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] !== undefined;
  const options = [
    "--tag",
    version.includes("-") ? "next" : "latest",
    `--provenance=${hasIdentity}`,
    "--registry",
    registry,
  ];
  const { status, stderr } = npm("publish", tarball, ...options);
  if (status !== 0)
    refuse(`npm did not publish ${tarball}: ${stderr.trim()}`, "Remove the cause and publish once more.");
}

function demandCleanTree() {
  const changed = git("status", "--porcelain");
  if (changed !== "") refuse(`the work tree has changes:\n${changed}`, "Commit or remove them.");
}

function git(...words) {
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).trimEnd();
}

function npm(...words) {
  return spawnSync("npm", words, { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
}

function read(path) {
  return readFileSync(join(root, path), "utf8");
}

function toJson(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function refuse(fact, fix) {
  throw new Error(`${fact}; fix: ${fix}`);
}
