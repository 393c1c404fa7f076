import { realpathSync, statSync, watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { Server } from "@parley/mcp";

/** Serves the files of one folder, and notifies subscribers when one of them changes. */
export function serveFolder(folder: string) {
  const names = async () => (await readdir(folder)).filter((name) => fileIn(folder, name) !== undefined);
  return new Server({ name: "files", version: "1.0.0" }).resourceTemplate(
    "folder:///{name}",
    {
      title: "A file of the folder",
      mimeType: "text/plain",
      list: async () => (await names()).map((name) => ({ variables: { name } })),
      complete: { name: async (typed) => (await names()).filter((name) => name.startsWith(typed)) },
      // Runs only while the file has subscribers.
      watch(uri, updated) {
        const file = fileIn(folder, decodeURIComponent(uri.slice("folder:///".length)));
        if (file === undefined) throw new Error(`${uri} is not a file of the folder`);
        const watcher = watch(file, () => updated());
        return () => watcher.close();
      },
    },
    ({ name }) => {
      const file = fileIn(folder, name);
      return file === undefined ? undefined : readFile(file, "utf8");
    },
  );
}

/** Where the file of that name is, if it is in the folder: dots are rejected before, but a symbolic link can lead out too. */
function fileIn(folder: string, name: string): string | undefined {
  try {
    const file = realpathSync(join(folder, name));
    // With the separator, because the name of another folder can begin with the name of this one.
    const isInside = file.startsWith(`${realpathSync(folder)}${sep}`);
    return isInside && statSync(file).isFile() ? file : undefined;
  } catch {
    return undefined; // It does not exist, or its links lead nowhere.
  }
}
