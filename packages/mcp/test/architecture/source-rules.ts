import type { ScannedSource } from "./scan-source.js";
import { violation } from "./violation.js";

const revision = /2024-11-05|2025-03-26|2025-06-18|2025-11-25|2026-07-28/;
const binName = /(^|\/)(utils?|shared|common|helpers?|types?|misc)(\/|\.ts$)/;

const isIn = (path: string, ...folders: string[]) => folders.some((folder) => path.startsWith(`${folder}/`));

export function revisionsOutsideEraAndProtocol(files: readonly ScannedSource[]): string[] {
  return files
    .filter((file) => !isIn(file.path, "era", "protocol"))
    .flatMap((file) =>
      file.literals
        .filter(({ text }) => revision.test(text))
        .map(({ text, line }) => violation(file, line, "revision", `${text} belongs to era/ or protocol/`)),
    );
}

export function ambientUsesOutsideThePlatform(files: readonly ScannedSource[]): string[] {
  return files
    .filter((file) => !isIn(file.path, "platform", "node"))
    .flatMap((file) =>
      file.ambientUses.map(({ text, line }) => violation(file, line, "platform", `${text} must come in by Platform`)),
    );
}

export function topLevelAwaits(files: readonly ScannedSource[]): string[] {
  return files.flatMap((file) =>
    file.topLevelAwaits.map(({ line }) => violation(file, line, "top-level await", "blocks every importer")),
  );
}

export function exportStars(files: readonly ScannedSource[]): string[] {
  return files.flatMap((file) => file.exportStars.map(({ text, line }) => violation(file, line, "export *", text)));
}

export function longFiles(files: readonly ScannedSource[], limit: number): string[] {
  return files
    .filter((file) => file.lineCount > limit)
    .map((file) => violation(file, file.lineCount, "file length", `${file.lineCount} lines, at most ${limit}`));
}

export function binFileNames(files: readonly ScannedSource[]): string[] {
  return files
    .filter((file) => binName.test(file.path))
    .map((file) => violation(file, 1, "file name", "a file is named for what it exports"));
}

export function tooManyExports(file: ScannedSource, limits: { values: number; types: number }): string[] {
  const { exportedValues, exportedTypes } = file;
  return [
    ...tooMany(file, "values", exportedValues.length, limits.values),
    ...tooMany(file, "types", exportedTypes.length, limits.types),
  ];
}

function tooMany(file: ScannedSource, what: string, count: number, limit: number): string[] {
  return count <= limit ? [] : [violation(file, 1, "root export", `${count} ${what}, at most ${limit}`)];
}
