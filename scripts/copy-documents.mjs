// Copies the repository's documents into the packages, where npm packs and shows them; git knows the originals only.
//
// Usage: node scripts/copy-documents.mjs      a part of `npm run build`
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const documents = {
  mcp: ["LICENSE", "CHANGELOG.md"],
  redis: ["LICENSE", "CHANGELOG.md"],
  cli: ["LICENSE", "CHANGELOG.md"],
  "create-parley": ["LICENSE", "CHANGELOG.md"],
  inspector: ["LICENSE", "CHANGELOG.md"],
};
for (const [folder, names] of Object.entries(documents)) {
  for (const name of names) copyFileSync(join(root, name), join(root, "packages", folder, name));
}
