import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import manifest from "../../package.json" with { type: "json" };

/** The packages that a project installs: those that it names, and those that `@parley/cli` needs. */
const PACKAGES = ["@parley/mcp", "@parley/cli", "@parley/inspector"] as const;

/** The packages of a project, with the versions or files that npm installs. */
export type PackageSpecs = Readonly<Partial<Record<(typeof PACKAGES)[number], string>>>;

/**
 * Returns the specifiers of the packages for the `package.json` of a project. They are files if this program did not
 * come from a registry, because npm would not find the packages there. All packages are then named, so that npm takes
 * the dependencies of `@parley/cli` from files too.
 */
export function packageSpecs(): PackageSpecs {
  const files = localPackages(packageFolder(import.meta.dirname));
  if (PACKAGES.every((name) => files[name] !== undefined && existsSync(files[name])))
    return Object.fromEntries(PACKAGES.map((name) => [name, `file:${files[name]?.replaceAll("\\", "/")}`]));
  const version = `^${manifest.version}`;
  return { "@parley/mcp": version, "@parley/cli": version };
}

/** The absolute paths of the packages from which this program was installed, if it did not come from a registry. */
function localPackages(folder: string): Readonly<Record<string, string>> {
  const listed = join(folder, "dist/local-packages.json");
  if (existsSync(listed)) return JSON.parse(readFileSync(listed, "utf8")) as Record<string, string>;
  const at = folder.lastIndexOf(`${sep}node_modules${sep}`);
  // A checkout, whose packages are beside each other.
  if (at < 0)
    return Object.fromEntries(PACKAGES.map((name) => [name, join(folder, "..", name.replace("@parley/", ""))]));
  return installedFiles(folder.slice(0, at));
}

/** The packages that npm installed from files into the project `folder`. */
function installedFiles(folder: string): Record<string, string> {
  const path = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(path)) return {};
  const lock = JSON.parse(readFileSync(path, "utf8")) as { packages?: Record<string, { resolved?: string }> };
  return Object.fromEntries(
    PACKAGES.flatMap((name) => {
      const { resolved = "" } = lock.packages?.[`node_modules/${name}`] ?? {};
      return resolved.startsWith("file:") ? [[name, resolve(folder, resolved.slice("file:".length))]] : [];
    }),
  );
}

/** The folder of the nearest package.json. */
function packageFolder(folder: string): string {
  return existsSync(join(folder, "package.json")) || folder === dirname(folder)
    ? folder
    : packageFolder(dirname(folder));
}
