// Writes the API reference, docs/api, from the declarations of the entries.
//
// Usage: npm run docs:api
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./entries.js";
import { apiReference } from "./pages.js";

const folder = join(root, "docs/api");
const { pages, undocumented, unexplained } = apiReference();
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(join(folder, name));
for (const [name, text] of pages) writeFileSync(join(folder, name), text);
console.log(`docs:api: ${pages.size} pages`);
for (const name of undocumented) console.log(`without a comment: ${name}`);
for (const name of unexplained) console.log(`without an example or a link to a guide: ${name}`);
