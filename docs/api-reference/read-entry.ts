import { join } from "node:path";
import ts from "typescript";
import { type Entry, root } from "./entries.js";

export type ApiKind = "namespace" | "class" | "function" | "constant" | "type";

/** The interfaces whose members users set. */
const SETTINGS = /(Options|Definition|Limits|Timeouts)$/;

/** One exported name, as its declaration tells it. */
export interface ApiName {
  readonly name: string;
  readonly kind: ApiKind;
  /** The doc comment: a sentence of purpose, then the contract; empty where there is none. */
  readonly doc: string;
  readonly examples: readonly string[];
  /** The guides that the comment links to with `@see`, as paths from the root of the repository. */
  readonly guides: readonly string[];
  /** The declaration, overloads included, with the comments of its members and without its own. */
  readonly declaration: string;
  /** The public members that have no comment, inherited ones included. */
  readonly silentMembers: readonly string[];
  /** The members of a settings interface, inherited ones included. */
  readonly settings: readonly Setting[];
  /** What a namespace holds, each by its whole name. */
  readonly members: readonly ApiName[];
}

/** One member of an interface that users fill in. */
export interface Setting {
  readonly name: string;
  readonly required: boolean;
  /** The comment, on one line. */
  readonly doc: string;
}

/** A reader for each TypeScript project of some entries, by the path of the project. */
export function readersOf(entries: readonly Entry[]): Map<string, ApiReader> {
  return new Map(
    [...new Set(entries.map(({ config }) => config))].map((config) => {
      const sources = entries.filter((entry) => entry.config === config).map(({ source }) => source);
      return [config, new ApiReader(config, sources)] as const;
    }),
  );
}

/** Reads what entry files export, from the declarations that the compiler makes of the sources. */
export class ApiReader {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  readonly #declarations = new Map<string, ts.SourceFile>();

  /** `config` is the TypeScript project of the entries, from the root of the repository. */
  constructor(config: string, sources: readonly string[]) {
    const read = ts.readConfigFile(join(root, config), ts.sys.readFile);
    const parsed = ts.parseJsonConfigFileContent(read.config, ts.sys, join(root, config, ".."));
    const { composite: _composite, incremental: _incremental, tsBuildInfoFile: _file, ...options } = parsed.options;
    // Types are checked elsewhere; here they are only read.
    const reading = { ...options, noCheck: true, declaration: true, emitDeclarationOnly: true, skipLibCheck: true };
    this.#program = ts.createProgram({ rootNames: [...sources], options: reading });
    this.#checker = this.#program.getTypeChecker();
  }

  namesOf(source: string): ApiName[] {
    const file = this.#program.getSourceFile(source);
    const module = file === undefined ? undefined : this.#checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${source} exports nothing`);
    return this.#checker
      .getExportsOfModule(module)
      .map((symbol) => this.#export(symbol))
      .toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
  }

  /** The declarations that the compiler makes of a source file. Undefined if no entry reaches the file. */
  declarationsAt(path: string): ts.SourceFile | undefined {
    const file = this.#program.getSourceFile(path);
    return file === undefined ? undefined : this.#declarationsOf(file);
  }

  #export(symbol: ts.Symbol): ApiName {
    const target = this.#resolved(symbol);
    if (!(target.flags & ts.SymbolFlags.ValueModule)) {
      const read = this.#read(symbol.name, target);
      return isTypeOnly(symbol) ? { ...read, kind: "type" } : read;
    }
    const members = this.#checker.getExportsOfModule(target).map((member) => {
      return this.#read(`${symbol.name}.${member.name}`, this.#resolved(member));
    });
    return {
      name: symbol.name,
      kind: "namespace",
      doc: this.#importComment(symbol),
      examples: [],
      guides: [],
      declaration: "",
      silentMembers: [],
      settings: [],
      members,
    };
  }

  /** The comment above `import * as content from "…"`, where an entry says what it exports under that name. */
  #importComment(symbol: ts.Symbol): string {
    const [specifier] = symbol.declarations ?? [];
    const local =
      specifier !== undefined && ts.isExportSpecifier(specifier)
        ? this.#checker.getExportSpecifierLocalTargetSymbol(specifier)
        : undefined;
    const statement = local?.declarations?.map((node) => ts.findAncestor(node, ts.isImportDeclaration))[0];
    if (statement === undefined) return "";
    const text = statement.getSourceFile().text;
    const comments = ts.getLeadingCommentRanges(text, statement.pos) ?? [];
    const last = comments.map(({ pos, end }) => text.slice(pos, end)).findLast((comment) => comment.startsWith("/**"));
    return (last ?? "").replace(/^\/\*\*|\*\/$|^\s*\* ?/gm, "").trim();
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  #read(name: string, symbol: ts.Symbol): ApiName {
    const nodes = this.#emitted(symbol);
    const tags = symbol.getJsDocTags(this.#checker);
    const textsOf = (name: string) =>
      tags.filter((tag) => tag.name === name).map((tag) => ts.displayPartsToString(tag.text));
    return {
      name,
      kind: kindOf(symbol),
      doc: withoutWraps(ts.displayPartsToString(symbol.getDocumentationComment(this.#checker))),
      examples: textsOf("example").map((text) => text.replace(/^```\w*\n|\n```$/g, "")),
      guides: textsOf("see").flatMap((text) => /\/blob\/main\/(docs\/[\w/-]+\.md)/.exec(text)?.[1] ?? []),
      declaration: nodes.map(textOf).join("\n"),
      silentMembers: this.#silentMembers(symbol),
      settings: SETTINGS.test(name) ? this.#settings(symbol) : [],
      members: [],
    };
  }

  #silentMembers(symbol: ts.Symbol): string[] {
    const isTyped = (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class | ts.SymbolFlags.TypeAlias)) !== 0;
    if (!isTyped) return [];
    const declared = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const types = declared.isUnionOrIntersection() ? [declared, ...declared.types] : [declared];
    const members = types.flatMap((type) => this.#checker.getPropertiesOfType(type));
    const silent = members.filter(isPublicMember).filter((member) => this.#docOf(member) === "");
    return [...new Set(silent.map(({ name }) => name))];
  }

  #docOf(member: ts.Symbol): string {
    return ts.displayPartsToString(member.getDocumentationComment(this.#checker)).replace(/\s+/g, " ").trim();
  }

  /** Inherited members count too; those that a library or the runtime declares do not. */
  #settings(symbol: ts.Symbol): Setting[] {
    if (!(symbol.flags & ts.SymbolFlags.Interface)) return [];
    return this.#checker
      .getPropertiesOfType(this.#checker.getDeclaredTypeOfSymbol(symbol))
      .filter((member) => member.declarations?.every((node) => isOwn(node.getSourceFile())) === true)
      .map((member) => ({
        name: member.name,
        required: !(member.flags & ts.SymbolFlags.Optional),
        doc: this.#docOf(member),
      }));
  }

  /** The statements of the emitted declarations that declare a symbol, and those of the library's classes that it extends. */
  #emitted(symbol: ts.Symbol): ts.Statement[] {
    const files = new Set(symbol.declarations?.map((declaration) => declaration.getSourceFile()));
    const own = [...files].flatMap((file) =>
      this.#declarationsOf(file).statements.filter((statement) => namesIn(statement).includes(symbol.name)),
    );
    return [...own, ...this.#bases(symbol).flatMap((base) => this.#emitted(base))];
  }

  #bases(symbol: ts.Symbol): ts.Symbol[] {
    const classes = (symbol.declarations ?? []).filter(ts.isClassDeclaration);
    const extended = classes.flatMap(({ heritageClauses = [] }) => heritageClauses.flatMap(({ types }) => [...types]));
    return extended.flatMap(({ expression }) => {
      const base = this.#checker.getTypeAtLocation(expression).symbol;
      return base?.declarations?.every((node) => isOwn(node.getSourceFile())) === true ? [base] : [];
    });
  }

  #declarationsOf(file: ts.SourceFile): ts.SourceFile {
    const known = this.#declarations.get(file.fileName);
    if (known !== undefined) return known;
    let text = "";
    const keep: ts.WriteFileCallback = (_name, content) => {
      text = content;
    };
    this.#program.emit(file, keep, undefined, true);
    const made = ts.createSourceFile(file.fileName.replace(/\.ts$/, ".d.ts"), text, ts.ScriptTarget.Latest, true);
    this.#declarations.set(file.fileName, made);
    return made;
  }
}

/** Declared by this repository, by a plain name, and neither private nor protected. */
function isPublicMember(member: ts.Symbol): boolean {
  const declarations = member.declarations ?? [];
  return (
    declarations.length > 0 &&
    declarations.every((node) => {
      const hidden = ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected);
      const name = ts.getNameOfDeclaration(node);
      const isNamed = name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name));
      return isOwn(node.getSourceFile()) && hidden === 0 && isNamed;
    })
  );
}

function isOwn(file: ts.SourceFile): boolean {
  return !file.fileName.includes("/node_modules/");
}

/** `export type { Client }`: a class that can be named and not made. */
function isTypeOnly(symbol: ts.Symbol): boolean {
  return (
    symbol.declarations?.some((node) => ts.isExportSpecifier(node) && ts.isTypeOnlyExportDeclaration(node)) === true
  );
}

function kindOf(symbol: ts.Symbol): ApiKind {
  if (symbol.flags & ts.SymbolFlags.Class) return "class";
  if (symbol.flags & ts.SymbolFlags.Function) return "function";
  return symbol.flags & ts.SymbolFlags.Value ? "constant" : "type";
}

/** The names that a statement declares. */
export function namesIn(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  const declares =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return declares && statement.name !== undefined ? [statement.name.text] : [];
}

/** The text of a statement without the comment before it, as a reader would write it. */
function textOf(statement: ts.Statement): string {
  return statement
    .getText()
    .replace(/^export (declare )?/, "")
    .replace(/^ {4}#private;\n/gm, "")
    .replace(/^( {4})+/gm, (indent) => " ".repeat(indent.length / 2));
}

/** Lines of a comment are wrapped for the source; a page wraps its own. Lists and code keep their lines. */
function withoutWraps(doc: string): string {
  return doc.replace(/(?<=\S)\n(?!\s|- |\* |\||>|```)/g, " ");
}
