import type { ScannedSource } from "./scan-source.js";

/** One line of a failure message: where, which rule, what. */
export function violation(file: ScannedSource, line: number, rule: string, detail: string): string {
  return `src/${file.path}:${line} ${rule}: ${detail}`;
}
