import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Results } from "../results.js";
import { chart } from "./chart.js";
import { performanceDocument } from "./document.js";
import { withMeasuredFigures } from "./readme-figures.js";
import type { TypesResults } from "./types-section.js";

const root = resolve(import.meta.dirname, "../..");

/** A file as it is and as the figures would have it. */
export interface GeneratedFile {
  readonly path: string;
  readonly wanted: string;
  readonly found: string | undefined;
}

/** Every file that is made from the result files; none while there are no results. */
export function generatedFiles(): GeneratedFile[] {
  const results = readJson<Results>("benchmarks/results/benchmarks.json");
  if (results === undefined) return [];
  const types = readJson<TypesResults>("benchmarks/results/types.json");
  const readme = readText("README.md") ?? "";
  return [
    { path: "docs/performance.md", wanted: performanceDocument(results, types) },
    { path: "docs/performance.svg", wanted: chart(results.rows) },
    { path: "README.md", wanted: withMeasuredFigures(readme, results) },
  ].map((file) => ({ ...file, found: readText(file.path) }));
}

function readText(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function readJson<T>(path: string): T | undefined {
  const text = readText(path);
  // Written by the programs beside this one.
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
