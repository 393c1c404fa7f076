import { entriesOf } from "./entries.js";
import { GuideExamples } from "./examples.js";
import { optionsPage } from "./options-page.js";
import { type ApiName, ApiReader } from "./read-entry.js";
import { renderEntry, renderIndex } from "./render.js";

/** The whole reference, by path in `docs/api`, and the names and members of settings that have no comment. */
export interface ApiReference {
  readonly pages: ReadonlyMap<string, string>;
  readonly undocumented: readonly string[];
}

export function apiReference(): ApiReference {
  const entries = entriesOf();
  const readers = new Map(
    [...new Set(entries.map(({ config }) => config))].map((config) => {
      const sources = entries.filter((entry) => entry.config === config).map(({ source }) => source);
      return [config, new ApiReader(config, sources)] as const;
    }),
  );
  const examples = new GuideExamples();
  const read = entries.map((entry) => ({ entry, names: readers.get(entry.config)?.namesOf(entry.source) ?? [] }));
  const pages = new Map([["README.md", renderIndex(read)]]);
  for (const { entry, names } of read) pages.set(entry.page, renderEntry(entry, names, examples));
  pages.set("options.md", optionsPage(read));
  const silent = (names: readonly ApiName[]): string[] =>
    names.flatMap(({ name, doc, silentMembers, members }) => [
      ...(doc === "" ? [name] : []),
      ...silentMembers.map((member) => `${name}.${member}`),
      ...silent(members),
    ]);
  const undocumented = read.flatMap(({ entry, names }) => silent(names).map((name) => `${entry.name}: ${name}`));
  return { pages, undocumented };
}
