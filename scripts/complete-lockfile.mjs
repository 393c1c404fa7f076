// Adds to a lockfile the platform packages that the registry at hand did not offer.
//
// npm leaves an optional dependency out of the lockfile when it cannot fetch its manifest (a partial mirror holds only
// its own platform's binaries), and `npm ci` then refuses the lockfile as incomplete. An entry with a version and the
// platform it is for is enough: npm skips it elsewhere and fetches it there.
//
// Usage: node scripts/complete-lockfile.mjs [folder]      after every `npm install` that changes the lockfile
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const systems = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32", "aix"];
const processors = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

const file = join(process.argv[2] ?? ".", "package-lock.json");
const lock = JSON.parse(readFileSync(file, "utf8"));
const added = [];

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(path, name) || !/^\d/.test(version)) continue;
    const platform = platformOf(name);
    if (platform === undefined) continue;
    const parent = path.slice(0, path.lastIndexOf("node_modules/"));
    lock.packages[`${parent}node_modules/${name}`] = { version, ...platform, optional: true, dev: entry.dev };
    added.push(`${name}@${version}`);
  }
}

if (added.length > 0) {
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(`${file}: ${added.length} platform packages added`);

/** Whether npm would find `name` from the package at `path`: in its own folder or in one above it. */
function isLocked(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0))) {
    if (lock.packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === "") return false;
  }
}

function platformOf(name) {
  const words = name.split(/[-/_]/);
  const cpu = words.find((word) => processors.includes(word));
  const os = words.find((word) => systems.includes(word));
  if (cpu === undefined || (os === undefined && cpu !== "wasm32")) return undefined;
  const libc = words.includes("musl")
    ? ["musl"]
    : words.includes("gnu") || words.includes("glibc")
      ? ["glibc"]
      : undefined;
  return { cpu: [cpu], ...(os && { os: [os] }), ...(os === "linux" && libc && { libc }) };
}
