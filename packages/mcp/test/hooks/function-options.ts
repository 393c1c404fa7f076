import { join, resolve } from "node:path";
import ts from "typescript";

const library = resolve(import.meta.dirname, "../..");

/**
 * The functions that a program may hand to the library, found in the types of the entries: members of whatever is passed
 * to an exported function, constructor or method, as `Type.member`, and parameters that are functions themselves, as
 * `Type.method(parameter)`.
 */
export function functionOptions(entries: readonly string[]): string[] {
  const program = ts.createProgram([...entries], compilerOptions());
  const reader = new Reader(program.getTypeChecker());
  for (const path of entries) {
    const source = program.getSourceFile(path);
    if (source === undefined) throw new Error(`cannot read ${path}`);
    reader.readModule(source);
  }
  return [...reader.found].sort();
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(library, "tsconfig.node.json"), ts.sys.readFile);
  const {
    composite: _composite,
    incremental: _incremental,
    tsBuildInfoFile: _file,
    ...options
  } = ts.parseJsonConfigFileContent(config, ts.sys, library).options;
  return { ...options, noEmit: true, noCheck: true, skipLibCheck: true };
}

class Reader {
  readonly found = new Set<string>();
  readonly #checker: ts.TypeChecker;
  readonly #seen = new Set<ts.Type>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  readModule(source: ts.SourceFile): void {
    const module = this.#checker.getSymbolAtLocation(source);
    for (const symbol of module === undefined ? [] : this.#checker.getExportsOfModule(module)) this.#readExport(symbol);
  }

  #readExport(exported: ts.Symbol): void {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported;
    if (symbol.flags & ts.SymbolFlags.Value) {
      const type = this.#checker.getTypeOfSymbol(symbol);
      if (symbol.flags & ts.SymbolFlags.Class)
        for (const member of type.getProperties()) this.#readMethod(symbol.name, member);
      for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()]) {
        this.#readSignature(symbol.name, signature);
      }
    }
    if (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface)) {
      const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
      // What users call: methods of classes and of the objects that the library makes.
      for (const member of type.getProperties()) this.#readMethod(symbol.name, member);
    }
  }

  #readMethod(owner: string, member: ts.Symbol): void {
    // Private members are called by the class alone.
    if (member.name.includes("#")) return;
    for (const signature of this.#checker.getTypeOfSymbol(member).getCallSignatures()) {
      this.#readSignature(`${owner}.${member.name}`, signature);
    }
  }

  #readSignature(name: string, signature: ts.Signature): void {
    for (const parameter of signature.getParameters()) {
      const type = this.#checker.getTypeOfSymbol(parameter);
      this.#readGiven(type, `${name}(${parameter.name})`);
    }
  }

  /** `label` is what a function at this place is called. */
  #readGiven(declared: ts.Type, label: string): void {
    const type = declared.flags & ts.TypeFlags.Instantiable ? this.#checker.getApparentType(declared) : declared;
    if (type.isUnionOrIntersection()) {
      for (const part of type.types) this.#readGiven(part, label);
      return;
    }
    if (type.getCallSignatures().length > 0) {
      this.found.add(label);
      return;
    }
    if (!(type.flags & ts.TypeFlags.Object) || this.#seen.has(type)) return;
    this.#seen.add(type);
    for (const { type: value } of this.#checker.getIndexInfosOfType(type)) this.#readGiven(value, label);
    if (!this.#isOurs(type)) {
      // Lists and records of ours, whose own members are the language's.
      for (const argument of this.#checker.getTypeArguments(type as ts.TypeReference)) this.#readGiven(argument, label);
      return;
    }
    for (const member of type.getProperties()) {
      const declared = member.declarations?.[0]?.parent;
      const owner = declared !== undefined && ts.isInterfaceDeclaration(declared) ? declared.name.text : label;
      this.#readGiven(this.#checker.getTypeOfSymbol(member), `${owner}.${member.name}`);
    }
  }

  #isOurs(type: ts.Type): boolean {
    // Instances of a class are made by the library, and come back as they are.
    const declaration = type.symbol?.declarations?.[0];
    if (declaration !== undefined && ts.isClassLike(declaration)) return false;
    return declaration === undefined ? false : declaration.getSourceFile().fileName.includes("/packages/mcp/src/");
  }
}
