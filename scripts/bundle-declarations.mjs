// Bundles the declarations that `tsc` wrote, one file for each entry of a package and one for each folder of its sources, so
// that a compiler reads a few dozen files and "go to definition" ends beside the related names, with their comments.
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import ts from "typescript";
import { exportedNames } from "./package-files.mjs";

const root = resolve(import.meta.dirname, "..");

/** Writes the declarations of a package into its `dist`: those of the entries that `exports` of its `package.json` lists. */
export async function bundleDeclarations(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const names = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [basename(types, ".d.ts")]));
  if (names.length === 0) return;
  const compiled = join(root, "node_modules/.cache/parley", `${basename(folder)}-types`);
  const dist = join(folder, "dist");
  const globals = join(folder, "web-globals.d.ts");
  const hasGlobals = existsSync(globals);
  const build = await rollup({
    input: Object.fromEntries(names.map((name) => [name, join(compiled, `${name}.d.ts`)])),
    external: (id) => !id.startsWith(".") && !id.startsWith(root),
    // The plugin leaves alone what lies in `node_modules`, as the compiler's output does.
    plugins: [
      dts({ respectExternal: true }),
      { name: "types-as-types", renderChunk: withTypesAsTypes },
      { name: "types-of-node", renderChunk: withoutTypesOfNode },
      hasGlobals && { name: "globals", renderChunk: withGlobals(globals) },
    ],
    onLog: (level, log) => {
      // Users cannot name types that only other declarations refer to, on purpose.
      if (level === "warn" && !log.message.includes("private shared type exports")) throw new Error(log.message);
    },
  });
  await build.write({
    dir: dist,
    entryFileNames: "[name].d.ts",
    chunkFileNames: "types/[name].d.ts",
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    manualChunks: (id) => {
      const [room, ...rest] = relative(compiled, id).split(sep);
      return rest.length > 0 && room !== ".." ? room : undefined;
    },
  });
  await build.close();
  if (hasGlobals) copyFileSync(globals, join(dist, "types/web-globals.d.ts"));
}

/** Exports as a type what the entry exports as a type: a class among them can be named and not made. */
function withTypesAsTypes(code, { isEntry, facadeModuleId }) {
  if (!isEntry) return null;
  const values = new Set(exportedNames(readFileSync(facadeModuleId, "utf8")));
  const isValue = (one) => values.has(one.split(" ").at(-1));
  return code.replace(/^export \{ (.*) \}(.*)$/gm, (_all, names, from) => {
    const all = names.split(", ");
    const lists = [
      ["export", all.filter(isValue)],
      ["export type", all.filter((one) => !isValue(one))],
    ];
    return lists
      .filter(([, list]) => list.length > 0)
      .map(([word, list]) => `${word} { ${list.join(", ")} }${from}`)
      .join("\n");
  });
}

/** Lets the types of Node be `any` where `@types/node` is absent, which a program that never names them need not install. */
function withoutTypesOfNode(code) {
  return code.replace(/^import .* from 'node:.*$/gm, "// @ts-ignore: any without @types/node\n$&");
}

/** Lets declarations compile without the types of the web: refers to their file, and imports from it what is no global there. */
function withGlobals(globals) {
  const { statements } = ts.createSourceFile(globals, readFileSync(globals, "utf8"), ts.ScriptTarget.Latest);
  const exported = statements.filter(ts.isTypeAliasDeclaration).filter(({ modifiers = [] }) => modifiers.length > 0);
  const aliases = new Set(exported.map(({ name }) => name.text));
  return (code, { isEntry }) => {
    const place = isEntry ? "./types" : ".";
    const used = [...typeNames(code)].filter((name) => aliases.has(name)).sort();
    const head = [
      ...(isEntry
        ? ['/// <reference lib="esnext.disposable" />', `/// <reference path="${place}/web-globals.d.ts" />`]
        : []),
      ...(used.length > 0 ? [`import { ${used.join(", ")} } from '${place}/web-globals.js';`] : []),
    ];
    return [...head, code].join("\n");
  };
}

/** The plain names that types of a declaration file refer to. */
function typeNames(code) {
  const found = new Set();
  const visit = (node) => {
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) found.add(node.typeName.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("chunk.d.ts", code, ts.ScriptTarget.Latest));
  return found;
}
