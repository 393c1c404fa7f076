import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** The file of `npm run install:local` in `dist` of a package: paths of tarballs by the names of their packages. */
export const LOCAL_PACKAGES = "local-packages.json";

/** Packs the package in `packages/<name>` as npm would publish it, and returns the path of the tarball in `place`. */
export function pack(name, place) {
  // Without `prepack` a stale build would be packed, whatever the user's settings say.
  const options = ["pack", "--json", "--ignore-scripts=false", "--pack-destination", place];
  const [packed] = JSON.parse(execFileSync("npm", options, { cwd: join(root, "packages", name) }));
  console.log(`packed ${packed.name}: ${packed.entryCount} files, ${packed.size} bytes`);
  return join(place, tarballName(packed));
}

/** The name that npm gives to the tarball of a package. */
export function tarballName({ name, version }) {
  return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

/** Compiles a program in a folder with both compilers, and the declarations that it imports. Throws if it does not fit them. */
export function compileProgram(folder, program) {
  writeFileSync(join(folder, "consumer.mts"), program);
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", skipLibCheck: false };
  const config = {
    compilerOptions: { ...compilerOptions, lib: ["es2022", "dom"], types: ["node"] },
    files: ["consumer.mts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  for (const compiler of ["typescript", "typescript-7"]) {
    execFileSync(process.execPath, [join(root, "node_modules", compiler, "bin/tsc"), "-p", folder], {
      stdio: "inherit",
    });
    console.log(`${compiler}: its declarations compile in full`);
  }
}
