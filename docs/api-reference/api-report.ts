import { dirname, join } from "node:path";
import ts from "typescript";
import { type Entry, entriesOf } from "./entries.js";
import { ApiReader, namesIn, readersOf } from "./read-entry.js";

/** One declaration of the report: `name` as users or other declarations call it, and its text without comments. */
interface ReportedDeclaration {
  readonly name: string;
  readonly text: string;
}

/** Where a name is declared: a source file, or the specifier of another package. */
interface Place {
  readonly file: string;
  /** The name there; `*` for the whole module. */
  readonly name: string;
}

const printer = ts.createPrinter({ removeComments: true });

/**
 * The public API as text, by file name: for each entry the declarations that it exports, then those that they refer to and no
 * entry exports. Each declaration is in the report of the first entry that has it.
 */
export function apiReport(): Map<string, string> {
  const entries = entriesOf();
  const readers = readersOf(entries);
  const exporters = new Map<string, Entry>();
  const exported = entries.map((entry) => {
    const reader = required(readers.get(entry.config));
    const names = exportsOf(reader, entry.source);
    for (const { place } of names) if (!exporters.has(keyOf(place))) exporters.set(keyOf(place), entry);
    return { entry, reader, names };
  });
  const reported = new Set<string>();
  return new Map(
    exported.map(({ entry, reader, names }) => {
      const own = names.filter(({ place }) => exporters.get(keyOf(place)) === entry);
      const blocks = names.map(({ name, isType, place }): ReportedDeclaration => {
        const exporter = exporters.get(keyOf(place));
        if (exporter !== entry) return { name, text: `${name} of ${exporter?.name}` };
        return { name, text: `${isType ? "" : "export "}${textAt(reader, place)}` };
      });
      const referred = reachedFrom(
        reader,
        own.map(({ place }) => place),
      ).filter((place) => !exporters.has(keyOf(place)) && !reported.has(keyOf(place)));
      for (const place of referred) reported.add(keyOf(place));
      const inner = referred.map((place) => ({ name: place.name, text: textAt(reader, place) }));
      return [reportFile(entry), textOf(entry, blocks, inner)];
    }),
  );
}

export function reportFile({ page }: Entry): string {
  return page.replace(/\.md$/, ".txt");
}
