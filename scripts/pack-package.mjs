import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The file of `npm run install:local` in `dist` of a package: paths of tarballs by the names of their packages. */
export const LOCAL_PACKAGES = "local-packages.json";
/** The least compiler that the declarations support; `compileProgram` needs it in the folder of the program. */
export const LEAST_COMPILER = "typescript@5.4.5";
const CURRENT_COMPILERS = ["typescript", "typescript-7"].map((name) => join(root, "node_modules", name));
/** The types of Node that a user installs beside the package. */
export const NODE_TYPES = `@types/node@${devDependencies["@types/node"]}`;

/** Packs the package in `packages/<name>` as npm would publish it: its tarball in `place`, and its figures. */
export function packed(name, place) {
  // Without `prepack` a stale build would be packed, whatever the user's settings say.
  const options = ["pack", "--json", "--ignore-scripts=false", "--pack-destination", place];
  const [{ entryCount, size, unpackedSize, ...manifest }] = JSON.parse(
    execFileSync("npm", options, { cwd: join(root, "packages", name) }),
  );
  console.log(`packed ${manifest.name}: ${entryCount} files, ${size} bytes, unpacked ${unpackedSize}`);
  return { tarball: join(place, tarballName(manifest)), entryCount, size, unpackedSize };
}

/** Packs the package in `packages/<name>`, and returns the path of the tarball in `place`. */
export function pack(name, place) {
  return packed(name, place).tarball;
}

/** The name that npm gives to the tarball of a package. */
export function tarballName({ name, version }) {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

/** Installs packages into a folder as a user would, without their scripts. */
export function installInto(folder, ...words) {
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--loglevel=error"];
  execFileSync("npm", ["install", ...words, ...options], { cwd: folder, stdio: "inherit" });
}

/**
 * Compiles a program in a folder, and in full the declarations that it imports, with every supported compiler. Throws if it does
 * not fit them. `lib` and `types` are what the program has of the web and of Node.
 */
export function compileProgram(folder, program, { lib = ["es2022", "dom"], types = ["node"] } = {}) {
  writeFileSync(join(folder, "consumer.mts"), program);
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", skipLibCheck: false };
  const config = { compilerOptions: { ...compilerOptions, lib, types }, files: ["consumer.mts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  for (const compiler of [join(folder, "node_modules/typescript"), ...CURRENT_COMPILERS]) {
    execFileSync(process.execPath, [join(compiler, "bin/tsc"), "-p", folder], { stdio: "inherit" });
    const { version } = JSON.parse(readFileSync(join(compiler, "package.json"), "utf8"));
    console.log(`TypeScript ${version}, lib ${lib}, types ${types.join() || "none"}: the declarations compile in full`);
  }
}
