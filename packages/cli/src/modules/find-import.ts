import { realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Jiti } from "jiti";

/** What an import means: a file of the user, which is evaluated anew by every load, or a package, which Node loads once. */
export type FoundImport =
  | { readonly kind: "own"; readonly path: string }
  | { readonly kind: "package"; readonly id: string }
  /** `tried` has the files that would have been it. */
  | { readonly kind: "missing"; readonly tried: readonly string[] };

const TYPESCRIPT = /\.[cm]?tsx?$/;

/** Finds what `specifier` means in the file `importer`, as Node and TypeScript do. */
export function findImport(specifier: string, importer: string, jiti: Jiti): FoundImport {
  if (isBuiltin(specifier) || specifier.startsWith("data:")) return { kind: "package", id: specifier };
  const path = pathOf(specifier, importer);
  if (path !== undefined) return findFile(path);
  try {
    const found = jiti.esmResolve(specifier, { parentURL: pathToFileURL(importer).href });
    const file = realpathSync(found.startsWith("file:") ? fileURLToPath(found) : found);
    // A package that is linked into a workspace as TypeScript is the user's own code; one that is built is a package.
    const isOwn = TYPESCRIPT.test(file) && !isInPackage(file);
    return isOwn || (specifier.startsWith("#") && !isInPackage(file))
      ? { kind: "own", path: file }
      : { kind: "package", id: file };
  } catch {
    return { kind: "missing", tried: [] };
  }
}

function pathOf(specifier: string, importer: string): string | undefined {
  if (specifier.startsWith("file:")) return fileURLToPath(specifier);
  // A query tells Node to load a file once more, which happens here anyway.
  const plain = specifier.replace(/[?#].*$/, "");
  return /^(?:\.{1,2}(?:\/|$)|\/|[A-Za-z]:[\\/])/.test(specifier) ? resolve(dirname(importer), plain) : undefined;
}

function findFile(path: string): FoundImport {
  const tried = candidates(path);
  const found = tried.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true);
  if (found === undefined) return { kind: "missing", tried };
  const real = realpathSync(found);
  return isInPackage(real) ? { kind: "package", id: real } : { kind: "own", path: real };
}

/** The file itself, the TypeScript that its name stands for, and the names that compilers complete. */
function candidates(path: string): string[] {
  const typescript = path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
  const endings = [".ts", ".mts", ".js", ".mjs", ".json"];
  return [
    ...new Set([
      path,
      typescript,
      ...endings.map((ending) => path + ending),
      ...["ts", "js"].map((ending) => resolve(path, `index.${ending}`)),
    ]),
  ];
}

function isInPackage(path: string): boolean {
  return path.includes(`${sep}node_modules${sep}`);
}
