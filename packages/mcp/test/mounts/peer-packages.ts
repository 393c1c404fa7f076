import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const folder = new URL("../peers/package.json", import.meta.url);

/** True when the packages that are only needed for tests were installed. */
export const peersInstalled = existsSync(new URL("node_modules", folder));

/** Loads a package of the tests' own folder. Its types are not installed for us, so that the caller names what it uses. */
export async function loadPeer<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(createRequire(folder).resolve(name)).href)) as T;
}
