import { watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Server } from "@parley/mcp";

/** Serves the files of one folder, and notifies subscribers when one of them changes. */
export function serveFolder(folder: string) {
  const names = () => readdir(folder);
  return new Server({ name: "files", version: "1.0.0" }).resourceTemplate(
    "folder:///{name}",
    {
      title: "A file of the folder",
      mimeType: "text/plain",
      list: async () => (await names()).map((name) => ({ variables: { name } })),
      complete: { name: async (typed) => (await names()).filter((name) => name.startsWith(typed)) },
      // Runs only while the file has subscribers.
      watch(uri, updated) {
        const watcher = watch(join(folder, fileOf(uri)), () => updated());
        return () => watcher.close();
      },
    },
    // A name that leads out of the folder never gets here: it is rejected before.
    ({ name }) => readFile(join(folder, name), "utf8").catch(() => undefined),
  );
}

function fileOf(uri: string): string {
  return decodeURIComponent(uri.slice("folder:///".length));
}
