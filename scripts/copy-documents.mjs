// Copies the repository's documents into the packages, where npm packs them; git knows the originals only. Each package has a
// README of its own.
import { copyFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

export function copyDocuments() {
  for (const folder of readdirSync(join(root, "packages"))) {
    for (const name of ["LICENSE", "CHANGELOG.md"])
      copyFileSync(join(root, name), join(root, "packages", folder, name));
  }
}
