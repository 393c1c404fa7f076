import type { Run } from "./run.js";
import { spend } from "./run.js";
export function compilePattern(source: string, _path: string): (text: string, run: Run) => boolean {
  const regex = new RegExp(source, "u");
  return (text, run) => {
    spend(run, text.length >> 3);
    return regex.test(text);
  };
}
