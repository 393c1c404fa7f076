import { dirname, join } from "node:path";
import ts from "typescript";
import { type Entry, entriesOf } from "./entries.js";
import { type ApiReader, namesIn, readersOf } from "./read-entry.js";

/** The place of a declaration: a source file and the name there, or the specifier of another package. */
interface Place {
  readonly file: string;
  /** `*` is the whole module. */
  readonly name: string;
}

interface ExportedName {
  readonly name: string;
  /** A type, or a class that can be named and not made. */
  readonly isType: boolean;
  readonly place: Place;
}

const printer = ts.createPrinter({ removeComments: true });
/** Stands between the exported declarations of a report and the others. */
const REFERRED = "--- referred to by the above, and not exported ---";

/**
 * The public API as text without comments, by file name: the declarations that an entry exports, then those that they refer to and
 * that no entry exports. Each declaration is in the report of the first entry that has it.
 */
export function apiReport(): Map<string, string> {
  const entries = entriesOf();
  const readers = readersOf(entries);
  const exporters = new Map<string, string>();
  const exports = entries.flatMap((entry) => {
    const reader = readers.get(entry.config);
    if (reader === undefined) return [];
    const names = new DeclarationFinder(reader).exportsOf(entry.source);
    for (const { place } of names) if (!exporters.has(keyOf(place))) exporters.set(keyOf(place), entry.name);
    return [{ entry, names, finder: new DeclarationFinder(reader) }];
  });
  const reported = new Set<string>();
  return new Map(
    exports.map(({ entry, names, finder }) => {
      const own = names.filter(({ place }) => exporters.get(keyOf(place)) === entry.name);
      const blocks = names.map(({ name, isType, place }) => {
        const exporter = exporters.get(keyOf(place));
        const text = exporter === entry.name ? finder.textAt(place, name) : `${name} from ${exporter}`;
        return `export ${isType && !/^(?:interface|type) /.test(text) ? "type " : ""}${text}`;
      });
      const referred = finder
        .reachedFrom(own.map(({ place }) => place))
        .filter((place) => !exporters.has(keyOf(place)) && !reported.has(keyOf(place)));
      for (const place of referred) reported.add(keyOf(place));
      const inner = referred.map((place) => finder.textAt(place, place.name)).sort();
      const parts = [`${entry.name}`, ...blocks, ...(inner.length > 0 ? [REFERRED, ...inner] : [])];
      return [reportFile(entry), `${parts.join("\n\n")}\n`];
    }),
  );
}

function reportFile({ page }: Entry): string {
  return page.replace(/\.md$/, ".txt");
}

/** Says which declarations of a stored report are gone, new or different in the current one, a line for each. */
export function reportChanges(file: string, stored: string, current: string): string[] {
  const before = blocksOf(stored);
  const after = blocksOf(current);
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    if (before.get(name) === after.get(name)) return [];
    const change = before.has(name) ? (after.has(name) ? "changed" : "removed") : "added";
    return [`${file}: ${change} ${name}`];
  });
}

const BLOCK_NAME =
  /^(?:export )?(?:type (?!\w+(?:<.*)? =))?(?:abstract )?(?:class |interface |type |function |const |namespace )?([\w$]+)/;

/** The declarations of a report by their name, with a number where a name is declared twice; its first line names the entry. */
function blocksOf(report: string): Map<string, string> {
  const [, ...blocks] = report.trimEnd().split("\n\n");
  const found = new Map<string, string>();
  for (const block of blocks.filter((one) => one !== REFERRED)) {
    const name = BLOCK_NAME.exec(block)?.[1] ?? block;
    const isSecond = found.has(name);
    found.set(
      isSecond ? `${name} (${[...found.keys()].filter((one) => one.split(" ")[0] === name).length + 1})` : name,
      block,
    );
  }
  return found;
}

function keyOf({ file, name }: Place): string {
  return `${file}#${name}`;
}

/** Finds declarations by following the imports and exports of the declaration files that the compiler makes of sources. */
class DeclarationFinder {
  readonly #reader: ApiReader;

  constructor(reader: ApiReader) {
    this.#reader = reader;
  }

  /** The names that an entry exports, by name. */
  exportsOf(source: string): ExportedName[] {
    const statements = this.#statements(source);
    const listed = statements.filter(ts.isExportDeclaration).flatMap(({ exportClause, isTypeOnly }) => {
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) return [];
      return exportClause.elements.map((one) => ({ name: one.name.text, isType: isTypeOnly || one.isTypeOnly }));
    });
    const declared = statements.filter(isExported).flatMap((statement) => {
      const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
      return namesIn(statement).map((name) => ({ name, isType }));
    });
    const all = new Map([...listed, ...declared].map((one) => [one.name, one]));
    return [...all.values()]
      .map(({ name, isType }) => ({ name, isType, place: this.#find(source, name) ?? { file: source, name } }))
      .toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
  }

  /** The declaration without comments; one of another package is named only. */
  textAt(place: Place, as: string): string {
    if (place.name === "*") {
      const members = this.exportsOf(place.file).map(
        (member) => `  ${indented(this.textAt(member.place, member.name))}`,
      );
      return `namespace ${as} {\n${members.join("\n")}\n}`;
    }
    const texts = this.#declarations(place).map((statement) => {
      const text = printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile());
      return text.replace(/^export /, "").replace(/^declare /, "");
    });
    return texts.length > 0 ? texts.join("\n") : `${as} from ${place.file}`;
  }

  /** The declarations of the package that these refer to, and those that they in turn refer to. */
  reachedFrom(places: readonly Place[]): Place[] {
    const found = new Map(places.map((place) => [keyOf(place), place]));
    // A map gives out what is added while it is walked.
    for (const place of found.values())
      for (const other of this.#references(place)) if (!found.has(keyOf(other))) found.set(keyOf(other), other);
    return [...found.values()].filter((place) => place.name !== "*" && this.#declarations(place).length > 0);
  }

  #references(place: Place): Place[] {
    if (place.name === "*") return this.exportsOf(place.file).map((member) => member.place);
    const found: Place[] = [];
    const visit = (node: ts.Node) => {
      const name = referredName(node);
      if (name !== undefined) found.push(...this.#named(place.file, name));
      if (ts.isImportTypeNode(node)) found.push(...this.#imported(place.file, node));
      ts.forEachChild(node, visit);
    };
    for (const statement of this.#declarations(place)) visit(statement);
    return found;
  }

  #named(file: string, name: string): Place[] {
    const place = this.#find(file, name);
    return place === undefined ? [] : [place];
  }

  #imported(file: string, { argument, qualifier }: ts.ImportTypeNode): Place[] {
    if (!ts.isLiteralTypeNode(argument) || !ts.isStringLiteral(argument.literal)) return [];
    const name = qualifier === undefined ? "*" : qualifier.getText();
    return this.#follow(file, argument.literal, name) ?? [];
  }

  /** Finds the declaration that a name stands for in a file. Undefined for a type parameter, a member or a global. */
  #find(file: string, name: string): Place | undefined {
    if (this.#declarations({ file, name }).length > 0) return { file, name };
    for (const statement of this.#statements(file)) {
      const module = moduleOf(statement);
      const target = targetOf(statement, name);
      if (target === undefined) continue;
      if (module !== undefined) return this.#follow(file, module, target)?.[0];
      if (target !== name) return this.#find(file, target);
    }
    return undefined;
  }

  #follow(file: string, module: ts.StringLiteral, name: string): Place[] | undefined {
    if (!module.text.startsWith(".")) return [{ file: module.text, name }];
    const path = join(dirname(file), module.text.replace(/\.js$/, ".ts"));
    if (name === "*") return [{ file: path, name }];
    return this.#named(path, name);
  }

  #declarations({ file, name }: Place): ts.Statement[] {
    return this.#statements(file).filter((statement) => namesIn(statement).includes(name));
  }

  #statements(file: string): readonly ts.Statement[] {
    return this.#reader.declarationsAt(file)?.statements ?? [];
  }
}

/** The name that a node of a declaration refers to: a type, a base, a value after `typeof`, the key of a computed member. */
function referredName(node: ts.Node): string | undefined {
  let name: ts.Node | undefined;
  if (ts.isTypeReferenceNode(node)) name = node.typeName;
  else if (ts.isTypeQueryNode(node)) name = node.exprName;
  else if (ts.isExpressionWithTypeArguments(node) || ts.isComputedPropertyName(node)) name = node.expression;
  while (name !== undefined && ts.isQualifiedName(name)) name = name.left;
  return name !== undefined && ts.isIdentifier(name) ? name.text : undefined;
}

function moduleOf(statement: ts.Statement): ts.StringLiteral | undefined {
  const isModule = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
  const specifier = isModule ? statement.moduleSpecifier : undefined;
  return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier : undefined;
}

/** The name that a local or exported name has on the other side of an import or export. */
function targetOf(statement: ts.Statement, name: string): string | undefined {
  const clause = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : ts.isExportDeclaration(statement)
      ? statement.exportClause
      : undefined;
  if (clause === undefined) return undefined;
  if (ts.isNamespaceImport(clause) || ts.isNamespaceExport(clause)) return clause.name.text === name ? "*" : undefined;
  const found = [...clause.elements].find((one) => one.name.text === name);
  return found === undefined ? undefined : (found.propertyName ?? found.name).text;
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n  ");
}
