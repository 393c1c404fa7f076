// What a built or a source file exports and loads, read from its text.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";

/** The names of all values that a module exports, sorted. */
export function exportedNames(text) {
  const file = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest);
  return file.statements.flatMap(namesOf).sort();
}

function namesOf(statement) {
  if (ts.isExportDeclaration(statement)) {
    if (statement.isTypeOnly || statement.exportClause === undefined) return [];
    return statement.exportClause.elements.filter((one) => !one.isTypeOnly).map((one) => one.name.text);
  }
  const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExportWord);
  if (isExported !== true) return [];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map((one) => one.name.text);
  return ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) ? [statement.name.text] : [];
}

function isExportWord(modifier) {
  return modifier.kind === ts.SyntaxKind.ExportKeyword;
}

/**
 * The files of the package in `folder` that a module loads, itself included, sorted; with `later` also those it loads by
 * `import()`. `condition` selects among the targets of `imports`.
 */
export function loadedFiles(folder, start, { condition, later }) {
  const { imports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const found = new Set([start]);
  // A set gives out what is added while it is walked.
  for (const path of found) {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, path), "utf8"));
    const dynamic = dynamicImports(readFileSync(join(folder, path), "utf8"));
    for (const { fileName } of importedFiles) {
      if (dynamic.has(fileName) && !later) continue;
      if (fileName.startsWith("#")) found.add(posix.normalize(imports[fileName][condition]));
      if (fileName.startsWith(".")) found.add(posix.join(posix.dirname(path), fileName));
    }
  }
  return [...found].sort();
}

function dynamicImports(text) {
  const all = new Set([...text.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, name]) => name));
  for (const [, name] of text.matchAll(/\bfrom "([^"]+)"/g)) all.delete(name);
  return all;
}
