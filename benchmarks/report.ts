// Writes the figures of the result files into the documents. Usage: npm run bench:report
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { generatedFiles } from "./report/files.js";

for (const { path, wanted, found } of generatedFiles()) {
  if (wanted === found) continue;
  writeFileSync(join(resolve(import.meta.dirname, ".."), path), wanted);
  console.log(`renewed ${path}`);
}
