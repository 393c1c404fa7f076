import ts from "typescript";

/** Something a rule looks at, and the line it is on. */
export interface Found {
  readonly text: string;
  readonly line: number;
}

export interface FoundImport extends Found {
  /** `import type` or `export type … from`: gone at run time. */
  readonly typeOnly: boolean;
  /** `import()`: evaluated later, so it closes no cycle. */
  readonly dynamic: boolean;
}

/** What the architecture rules need to know of one source file; `path` is relative to `src/`. */
export interface ScannedSource {
  readonly path: string;
  readonly lineCount: number;
  readonly imports: readonly FoundImport[];
  readonly exportStars: readonly Found[];
  readonly topLevelAwaits: readonly Found[];
  /** String, template and regular-expression literals; comments are not code. */
  readonly literals: readonly Found[];
  /** Uses of ambient time, timers, randomness, crypto, network and processes. */
  readonly ambientUses: readonly Found[];
  readonly exportedValues: readonly string[];
  readonly exportedTypes: readonly string[];
  /** Names that the file both declares and exports, once each. */
  readonly declaredExports: readonly Found[];
  /** Names that the file declares, anywhere: types, functions, variables, members, parameters. */
  readonly declarations: readonly Found[];
  /** Every identifier outside imports, and `a.b` for each access to a member, where `a` is the last name before the dot. */
  readonly words: readonly Found[];
}

const ambientFunctions = new Set(["setTimeout", "setInterval", "setImmediate", "fetch", "spawn", "crypto"]);
const ambientMembers = new Set(["Date.now", "Math.random", "performance.now"]);

/** Reads one file with the compiler's own parser; knows nothing of other files and of types. */
export function scanSource(path: string, text: string): ScannedSource {
  const kind = path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const found = {
    imports: [] as FoundImport[],
    exportStars: [] as Found[],
    topLevelAwaits: [] as Found[],
    literals: [] as Found[],
    ambientUses: [] as Found[],
    exportedValues: [] as string[],
    exportedTypes: [] as string[],
    declaredExports: [] as Found[],
    declarations: [] as Found[],
    words: [] as Found[],
  };
  const declared = declaredNames(file);
  const lineOf = (node: ts.Node) => file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  const add = (list: Found[], node: ts.Node, what = node.getText(file)) =>
    list.push({ text: what, line: lineOf(node) });

  const visit = (node: ts.Node, inFunction: boolean): void => {
    const target = importTarget(node);
    if (target !== undefined) found.imports.push({ ...target, line: lineOf(node) });
    else if (isLiteral(node)) add(found.literals, node);
    if (ts.isExportDeclaration(node)) {
      if (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause)) add(found.exportStars, node);
      else collectExports(node, node.exportClause, found);
    }
    if (!inFunction && isAwait(node)) add(found.topLevelAwaits, node, "await");
    collectNames(node, found, (name) => lineOf(name));
    const ambient = ambientUse(node, declared);
    if (ambient !== undefined) add(found.ambientUses, node, ambient);
    ts.forEachChild(node, (child) => visit(child, inFunction || ts.isFunctionLike(node) || isClassMember(node)));
  };
  visit(file, false);
  // Imports name `a.ts` and `a.tsx` alike, as `a.js`.
  return {
    path: path.replace(/\.tsx$/, ".ts"),
    lineCount: text.split("\n").length - (text.endsWith("\n") ? 1 : 0),
    ...found,
  };
}

function isClassMember(node: ts.Node): boolean {
  return ts.isPropertyDeclaration(node) || ts.isClassStaticBlockDeclaration(node);
}

function isAwait(node: ts.Node): boolean {
  return ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined);
}

function isLiteral(node: ts.Node): boolean {
  return ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
}

function importTarget(node: ts.Node): Omit<FoundImport, "line"> | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return {
      text: node.moduleSpecifier.text,
      typeOnly: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
      dynamic: false,
    };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
    return { text: node.moduleSpecifier.text, typeOnly: node.isTypeOnly, dynamic: false };
  }
  const [argument] = ts.isCallExpression(node) ? node.arguments : [];
  if (
    ts.isCallExpression(node) &&
    node.expression.kind === ts.SyntaxKind.ImportKeyword &&
    argument &&
    ts.isStringLiteral(argument)
  ) {
    return { text: argument.text, typeOnly: false, dynamic: true };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return { text: node.argument.literal.text, typeOnly: true, dynamic: false };
  }
  return undefined;
}

function collectExports(
  node: ts.ExportDeclaration,
  clause: ts.NamedExports,
  found: { exportedValues: string[]; exportedTypes: string[] },
): void {
  for (const element of clause.elements) {
    const isType = node.isTypeOnly || element.isTypeOnly;
    (isType ? found.exportedTypes : found.exportedValues).push(element.name.text);
  }
}

/** Notes the identifier that a node is, the name that it declares, and whether that name is exported. */
function collectNames(
  node: ts.Node,
  found: { declaredExports: Found[]; declarations: Found[]; words: Found[] },
  lineOf: (node: ts.Node) => number,
): void {
  const isWord = (ts.isIdentifier(node) && !ts.isImportSpecifier(node.parent)) || ts.isPrivateIdentifier(node);
  if (isWord) found.words.push({ text: node.text, line: lineOf(node) });
  if (ts.isPropertyAccessExpression(node)) {
    const before = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
    found.words.push({ text: `${before.getText()}.${node.name.text}`, line: lineOf(node.name) });
  }
  const name = declaredName(node);
  if (name === undefined) return;
  const declaration = { text: name.text.replace(/^#/, ""), line: lineOf(name) };
  found.declarations.push(declaration);
  const known = found.declaredExports.some(({ text }) => text === declaration.text);
  if (isExportedDeclaration(node) && !known) found.declaredExports.push(declaration);
}

function declaredName(node: ts.Node): ts.Identifier | ts.PrivateIdentifier | undefined {
  const declares =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isBindingElement(node) ||
    ts.isParameter(node) ||
    ts.isClassElement(node) ||
    ts.isTypeElement(node);
  if (!declares || node.name === undefined) return undefined;
  return ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name) ? node.name : undefined;
}

function isExportedDeclaration(node: ts.Node): boolean {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  if (!ts.canHaveModifiers(statement) || statement.parent.kind !== ts.SyntaxKind.SourceFile) return false;
  return ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

/**
 * Names that the file binds itself, anywhere: `const { fetch } = platform` makes `fetch` injected, not ambient.
 * The scope is the file, which is coarse but has no false alarm, and review sees the rest.
 */
function declaredNames(file: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const binds =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isImportSpecifier(node) ||
      ts.isImportClause(node);
    // A parameter of a function type binds nothing that code could use.
    const inType = ts.isParameter(node) && (ts.isTypeNode(node.parent) || ts.isTypeElement(node.parent));
    if (binds && !inType && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}

function ambientUse(node: ts.Node, declared: ReadonlySet<string>): string | undefined {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const name = `${node.expression.text}.${node.name.text}`;
    if (ambientMembers.has(name)) return name;
    if (node.expression.text === "globalThis" && isAmbientRoot(node.name.text)) return name;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === "Date" && !node.arguments?.length) return "new Date()";
  if (ts.isIdentifier(node) && ambientFunctions.has(node.text) && !declared.has(node.text) && isRead(node))
    return node.text;
  return undefined;
}

function isAmbientRoot(name: string): boolean {
  return ambientFunctions.has(name) || name === "performance" || name === "Math" || name === "Date";
}

/** Whether an identifier stands for a value, and is not the name of a member, a binding or a type. */
function isRead(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isQualifiedName(parent)) return false;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  const isName = "name" in parent && parent.name === node;
  return !isName && !ts.isTypeNode(parent) && !ts.isExportSpecifier(parent) && !ts.isImportSpecifier(parent);
}
