import { McpError } from "../protocol/error.js";
import { builtin } from "./builtin.js";

/** Maximum size of the file, in bytes. `load` rejects if the file is larger. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Storage of a host's catalogue in a file, for the option `catalogue` of a host. */
export interface CatalogueFile {
  /** Reads the text. Resolves to undefined if the file does not exist. */
  load(): Promise<string | undefined>;
  /** Replaces the text. Creates the folder if it is absent. */
  save(text: string): Promise<void>;
}

/**
 * Stores the catalogue of a host in a file, for the host's option `catalogue`. Replaces the whole file at once, so that
 * the file is never partially written. Only the owner of the file can read it. A file that does not exist yet counts as
 * empty.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host.md | The host: many servers as one}
 */
export function catalogueFile(path: string): CatalogueFile {
  if (typeof path !== "string" || path === "") {
    throw new McpError("invalid_definition", "`catalogueFile` needs a path", { fix: "Pass the path of a file." });
  }
  const { promises: fs, constants } = builtin("node:fs");
  const { dirname } = builtin("node:path");
  return {
    async load() {
      // O_NONBLOCK, because opening a named pipe would otherwise wait for a writer.
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
      // A unique name, because other processes may save to the same path, and another user could prepare a link at a
      // predictable name.
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
