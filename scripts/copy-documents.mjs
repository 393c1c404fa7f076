// Copies the repository's documents into the packages, where npm packs and shows them; git knows the originals only.
//
// Usage: node scripts/copy-documents.mjs      a part of `npm run build`
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
for (const folder of ["mcp", "redis", "cli", "inspector"]) {
  for (const name of ["LICENSE", "CHANGELOG.md"]) copyFileSync(join(root, name), join(root, "packages", folder, name));
}
