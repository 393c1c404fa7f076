import type { BannedName } from "./banned-names.js";
import { groupBy } from "./group-by.js";
import { resolveImport } from "./import-table.js";
import type { ScannedSource } from "./scan-source.js";
import { violation } from "./violation.js";

/** A file that a rule leaves alone, and why. */
export interface Exception {
  readonly file: string;
  readonly reason: string;
}

const isEntry = (path: string) => !path.includes("/");
const roomOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1) || "./";
const isExcepted = (file: ScannedSource, exceptions: readonly Exception[]) =>
  exceptions.some((exception) => exception.file === file.path);

/** Folders with more files than a reader takes in at once; folders inside do not count. */
export function crowdedRooms(files: readonly ScannedSource[], limit: number): string[] {
  const rooms = groupBy(files, ({ path }) => roomOf(path));
  return [...rooms]
    .filter(([, inside]) => inside.length > limit)
    .map(([room, inside]) => `src/${room} room: ${inside.length} files, at most ${limit}`);
}

/**
 * Files of a few lines that one other file imports: they cost a reader a jump and save nothing. A file that an entry
 * exports is a public door, and one that is loaded by `import()` is where the build cuts.
 */
export function smallFilesWithOneImporter(
  files: readonly ScannedSource[],
  limit: number,
  exceptions: readonly Exception[],
): string[] {
  const importers = importersOf(files);
  return files.flatMap((file) => {
    const by = importers.get(file.path) ?? [];
    const [only] = by;
    if (file.lineCount >= limit || only === undefined || by.length !== 1 || isExcepted(file, exceptions)) return [];
    if (isEntry(only.path) || only.dynamic) return [];
    return [violation(file, 1, "small file", `${file.lineCount} lines, and only ${only.path} imports it`)];
  });
}

/** Who imports each file, once each; `dynamic` when it does so by `import()` alone. */
function importersOf(files: readonly ScannedSource[]): Map<string, { path: string; dynamic: boolean }[]> {
  const importers = new Map<string, { path: string; dynamic: boolean }[]>();
  for (const { path, imports } of files) {
    for (const [target, found] of groupBy(imports, ({ text }) => resolveImport(path, text))) {
      if (target === undefined) continue;
      const dynamic = found.every((one) => one.dynamic || one.typeOnly) && found.some((one) => one.dynamic);
      importers.set(target, [...(importers.get(target) ?? []), { path, dynamic }]);
    }
  }
  return importers;
}

/** Names that two files declare and export: whoever reads one of them must ask which. */
export function namesWithTwoMeanings(files: readonly ScannedSource[], allowed: readonly string[]): string[] {
  const declared = files.flatMap((file) => file.declaredExports.map(({ text, line }) => ({ text, line, file })));
  return [...groupBy(declared, ({ text }) => text)]
    .filter(([name, places]) => places.length > 1 && !allowed.includes(name))
    .map(([name, [first, ...rest]]) => {
      const others = rest.map(({ file }) => file.path).join(", ");
      return first === undefined ? "" : violation(first.file, first.line, "two meanings", `${name}, also in ${others}`);
    });
}

/** Files whose name shares no word with any of their exports. */
export function filesNotNamedForTheirExports(
  files: readonly ScannedSource[],
  exceptions: readonly Exception[],
): string[] {
  return files
    .filter((file) => !isEntry(file.path) && file.declaredExports.length > 0 && !isExcepted(file, exceptions))
    .filter((file) => !file.declaredExports.some(({ text }) => shareAWord(baseName(file.path), text)))
    .map((file) => {
      const names = file.declaredExports.map(({ text }) => text).join(", ");
      return violation(file, 1, "file name", `named ${baseName(file.path)}, exports ${names}`);
    });
}

const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1, -".ts".length);

/** Words are the same when one begins as the other does: `validate` and `validation`, `tool` and `tools`. */
function shareAWord(file: string, name: string): boolean {
  return wordsOf(file).some((a) => wordsOf(name).some((b) => a.slice(0, 5) === b.slice(0, 5)));
}

/** `readByteStream`, `READ_BYTE_STREAM` and `read-byte-stream` have the same words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(w)ebSocket/gi, "$1ebsocket")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .split(/[-_]/)
    .map((word) => word.toLowerCase().replace(/(?<=..)s$/, ""));
}

/** Declarations that carry a name which was given up. */
export function bannedNames(files: readonly ScannedSource[], banned: readonly BannedName[]): string[] {
  const byName = new Map(banned.map((one) => [one.name, one]));
  return files.flatMap((file) =>
    file.declarations.flatMap(({ text, line }) => {
      const found = byName.get(text);
      if (found === undefined || !file.path.startsWith(found.within ?? "")) return [];
      return [violation(file, line, "name", `${text}: say ${found.instead}`)];
    }),
  );
}

/** Built-in modules that load with the file: some cost every start, and only a few programs use them. */
export function nodeBuiltinsByValue(files: readonly ScannedSource[]): string[] {
  return files.flatMap((file) =>
    file.imports
      .filter(({ text, typeOnly }) => text.startsWith("node:") && !typeOnly)
      .map(({ text, line }) => violation(file, line, "builtin", `${text} must come by builtin()`)),
  );
}
