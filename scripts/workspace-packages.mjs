import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The packages of a workspace that are published, each after those that it needs. */
export function publishedPackages(root) {
  const all = readdirSync(join(root, "packages"))
    .map((name) => ({ name, folder: join(root, "packages", name) }))
    .filter(({ folder }) => existsSync(join(folder, "package.json")))
    .map((one) => ({ ...one, manifest: JSON.parse(readFileSync(join(one.folder, "package.json"), "utf8")) }))
    .filter(({ manifest }) => manifest.private !== true);
  const ordered = new Set();
  const add = (one, above) => {
    if (above.includes(one)) throw new Error(`${one.manifest.name} needs itself through other packages`);
    for (const other of all) if (needs(one.manifest, other.manifest.name)) add(other, [...above, one]);
    ordered.add(one);
  };
  for (const one of all) add(one, []);
  return [...ordered];
}

/** An optional peer is not needed: the library names the inspector so, which needs the library. */
function needs({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }, name) {
  return name in dependencies || (name in peerDependencies && peerDependenciesMeta[name]?.optional !== true);
}
