import { groupBy } from "./group-by.js";
import type { Found, ScannedSource } from "./scan-source.js";
import { violation } from "./violation.js";

/** A place outside `era/` and `protocol/` that may know of eras and revisions. */
export interface EraLine {
  readonly file: string;
  /** The word that may stand there, on one line of the file. */
  readonly word: string;
  readonly reason: string;
}

/** Identifiers that ask what a revision can do, or that name an era. */
const ERA_WORD =
  /^#?(featuresOf|RevisionFeatures|EraName|revisionsOf|isWithin|NEWEST_\w+|UNNAMED_HTTP_REVISION|eraOf\w*|replays|serverAsks|mirrorsParams|\w*state(ful|less)\w*)$/i;

/** Reads of what a revision can do. */
const FEATURE =
  /^features(Of\(.*\))?\.(batch|completionsCapability|progressMessage|elicitation(Ids)?|samplingTools|versionHeader|primingEvent|paramHeaders|cacheHints|notFoundCode|era)$/;

/** Lines of code that know of eras or revisions, outside the folders that may, less those that are named. */
export function eraLinesOutside(files: readonly ScannedSource[], allowed: readonly EraLine[]): string[] {
  return files
    .filter(({ path }) => !/^(era|protocol)[/.]/.test(path))
    .flatMap((file) => {
      const open = allowed.filter((line) => line.file === file.path);
      return [...groupBy(eraWords(file), ({ line }) => line)]
        .sort(([a], [b]) => a - b)
        .flatMap(([line, words]) => {
          const at = open.findIndex(({ word }) => words.some(({ text }) => text === word));
          // Each entry of the list covers one line, so that a second one needs its own reason.
          if (at >= 0) open.splice(at, 1);
          return at >= 0 ? [] : [violation(file, line, "era", [...new Set(words.map(({ text }) => text))].join(", "))];
        });
    });
}

/** Entries of the list that no line needs. */
export function needlessEraLines(files: readonly ScannedSource[], allowed: readonly EraLine[]): EraLine[] {
  return allowed.filter((_entry, index) => {
    const others = allowed.filter((_, other) => other !== index);
    return eraLinesOutside(files, others).length === eraLinesOutside(files, allowed).length;
  });
}

function eraWords(file: ScannedSource): Found[] {
  return [
    ...file.literals.filter(({ text }) => /^["'`](stateful|stateless)["'`]$/.test(text)),
    ...file.imports.filter(({ text }) => /\bera\/state(ful|less)\//.test(text)),
    ...file.words.filter(({ text }) => ERA_WORD.test(text) || FEATURE.test(text) || text === "call.features"),
  ];
}
