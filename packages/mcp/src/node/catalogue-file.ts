import { McpError } from "../protocol/error.js";
import { builtin } from "./builtin.js";

/** A text in a file; the option `catalogue` of a host takes it. */
export interface CatalogueFile {
  load(): Promise<string | undefined>;
  save(text: string): Promise<void>;
}

/**
 * Keeps the catalogue of a host in a file, for its option `catalogue`. The file is replaced as a whole, so that it is never half
 * written, and only its owner can read it. A file that does not exist yet counts as empty.
 */
export function catalogueFile(path: string): CatalogueFile {
  if (typeof path !== "string" || path === "") {
    throw new McpError("invalid_definition", "`catalogueFile` was given no path", { fix: "Pass the path of a file." });
  }
  const fs = builtin("node:fs");
  const { dirname } = builtin("node:path");
  return {
    async load() {
      try {
        return await fs.promises.readFile(path, "utf8");
      } catch (error) {
        if ((error as { code?: unknown }).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async save(text) {
      await fs.promises.mkdir(dirname(path), { recursive: true });
      const draft = `${path}.${process.pid}.draft`;
      await fs.promises.writeFile(draft, text, { mode: 0o600 });
      await fs.promises.rename(draft, path);
    },
  };
}
