import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** Packs the package in `packages/<name>` as npm would publish it, and returns the path of the tarball in `place`. */
export function pack(name, place) {
  const options = ["pack", "--json", "--pack-destination", place];
  const [packed] = JSON.parse(execFileSync("npm", options, { cwd: join(root, "packages", name) }));
  console.log(`packed ${packed.name}: ${packed.entryCount} files, ${packed.size} bytes`);
  return join(place, packed.filename.replace("@", "").replace("/", "-"));
}

/** Installs packages into a folder as a user would, without their scripts. */
export function installInto(folder, ...words) {
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];
  execFileSync("npm", ["install", ...words, ...options], { cwd: folder, stdio: "inherit" });
}
