import { entriesOf } from "./entries.js";
import { GuideExamples } from "./examples.js";
import { optionsPage } from "./options-page.js";
import { type ApiName, readersOf } from "./read-entry.js";
import { renderEntry, renderIndex } from "./render.js";

/** The whole reference. */
export interface ApiReference {
  /** The text of each page, by its name in `docs/api`. */
  readonly pages: ReadonlyMap<string, string>;
  /** Exported names and public members without a comment. */
  readonly undocumented: readonly string[];
  /** Exported functions and classes without an example, or a link to a guide that has one. */
  readonly unexplained: readonly string[];
  /** The examples of doc comments. */
  readonly examples: readonly { readonly name: string; readonly code: string }[];
}

export function apiReference(): ApiReference {
  const entries = entriesOf();
  const readers = readersOf(entries);
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
  const isExplained = ({ name, examples: own, guides }: ApiName) =>
    own.length > 0 || guides.some((page) => examples.uses(page, name));
  const unexplained = read.flatMap(({ entry, names }) =>
    names
      .filter(({ kind }) => kind === "function" || kind === "class")
      .filter((api) => !isExplained(api))
      .map(({ name }) => `${entry.name}: ${name}`),
  );
  const own = read.flatMap(({ entry, names }) =>
    names.flatMap((api) => api.examples.map((code) => ({ name: `${entry.name}: ${api.name}`, code }))),
  );
  return { pages, undocumented, unexplained, examples: own };
}
