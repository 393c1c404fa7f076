import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const packages = resolve(import.meta.dirname, "../../..");

/** A folder of a user's project. Remove it at the end. */
export class ModuleFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "parley-run-")));

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.write("package.json", '{ "type": "module" }');
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  /** Writes a file and gives its path. */
  write(name: string, text: string, mode = 0o644): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    return path;
  }

  /** Installs the library as a link to this repository, as a workspace does. */
  link(): this {
    mkdirSync(join(this.path, "node_modules/@parley"), { recursive: true });
    symlinkSync(join(packages, "mcp"), join(this.path, "node_modules/@parley/mcp"), "dir");
    return this;
  }

  /** Installs a copy of the library, as npm does. */
  copy(): this {
    const target = join(this.path, "node_modules/@parley/mcp");
    mkdirSync(target, { recursive: true });
    for (const part of ["package.json", "dist"])
      cpSync(join(packages, "mcp", part), join(target, part), { recursive: true });
    return this;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
