import { McpError } from "../protocol/error.js";
import { builtin } from "./builtin.js";

/** The longest file that is read. */
const MAX_BYTES = 128 * 1024 * 1024;

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
  const { promises: fs, constants } = builtin("node:fs");
  const { dirname } = builtin("node:path");
  return {
    async load() {
      // A pipe would keep the host waiting for a writer.
      const file = await fs.open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(unlessMissing);
      if (file === undefined) return undefined;
      try {
        const { size } = await file.stat();
        if (size > MAX_BYTES) throw new Error(`the file has ${size} bytes, more than ${MAX_BYTES} (MAX_BYTES)`);
        return await file.readFile("utf8");
      } finally {
        await file.close();
      }
    },
    async save(text) {
      await fs.mkdir(dirname(path), { recursive: true });
      // A name of its own for each: others may save to the same path, or wait in its folder with a link.
      const draft = `${path}.${builtin("node:crypto").randomUUID()}.draft`;
      try {
        await fs.writeFile(draft, text, { mode: 0o600, flag: "wx" });
        await fs.rename(draft, path);
      } catch (error) {
        await fs.rm(draft, { force: true });
        throw error;
      }
    },
  };
}

function unlessMissing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== "ENOENT") throw error;
}
