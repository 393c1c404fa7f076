import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { UsageError } from "../terminal/usage-error.js";
import { type ModuleLanguage, moduleText } from "./module-text.js";
import type { TypedModule } from "./typed-module.js";

/** One file of a generated module. */
export interface ModuleFile {
  /** As it was named on the command line, or beside what was named. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** The files that `-o` asks for: one `.ts`, or a `.js` and the `.d.ts` beside it. */
export function moduleFiles(module: TypedModule, output: string, folder: string): ModuleFile[] {
  const file = (name: string, language: ModuleLanguage) => ({
    name,
    path: resolve(folder, name),
    text: moduleText(module, language),
  });
  const [, stem, kind] = /^(.+)\.d\.(m?)ts$/.exec(output) ?? /^(.+)\.(m?)js$/.exec(output) ?? [];
  if (stem !== undefined) return [file(`${stem}.${kind}js`, "js"), file(`${stem}.d.${kind}ts`, "d.ts")];
  if (/.\.m?ts$/.test(output)) return [file(output, "ts")];
  throw new UsageError(
    `"${output}" has no ending of an ES module`,
    "Name a .ts file, or a .js file to get a .d.ts beside it; .mts and .mjs are the same.",
  );
}

/** What stands in a file; undefined if there is none. Some systems check files out with other ends of lines, which is no change. */
export function currentText({ path, name }: ModuleFile): string | undefined {
  try {
    return readFileSync(path, "utf8").replaceAll("\r\n", "\n");
  } catch (reason) {
    if (isMissing(reason)) return undefined;
    throw new UsageError(`${name} cannot be read: ${messageOf(reason)}`, "Name a file that you may read and write.");
  }
}

/** Writes a file as a whole or not at all, since a bundler may be watching. */
export function writeModuleFile({ path, name, text }: ModuleFile): void {
  const draft = resolve(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(draft, text);
    renameSync(draft, path);
  } catch (reason) {
    if (existsSync(draft)) rmSync(draft);
    throw new UsageError(`${name} cannot be written: ${messageOf(reason)}`, "Name a file that you may write.");
  }
}

function isMissing(reason: unknown): boolean {
  return reason instanceof Error && "code" in reason && (reason.code === "ENOENT" || reason.code === "ENOTDIR");
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
