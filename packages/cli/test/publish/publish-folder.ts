import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The smallest package.json with which nothing is wrong. */
export const MANIFEST = {
  name: "@ada/notes",
  version: "1.2.3",
  mcpName: "io.github.ada/notes",
  description: "Keeps notes",
  author: "Ada <ada@example.com> (https://example.com)",
  license: "MIT",
  type: "module",
  bin: "stdio.mjs",
  repository: "github:ada/notes",
};

/** The eight bytes by which a PNG file begins. */
export const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The folder of a package that is to be published. */
export class PublishFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "parley-publish-")));

  constructor(manifest: object = MANIFEST, files: Readonly<Record<string, string | Uint8Array>> = {}) {
    this.write("package.json", JSON.stringify(manifest));
    // Only its first line counts where the server is reached by an address.
    this.write("stdio.mjs", "#!/usr/bin/env node\n");
    this.write("LICENSE", "MIT\n");
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  /** Makes the packages of another folder available. */
  install(modules: string): this {
    symlinkSync(modules, join(this.path, "node_modules"), "dir");
    return this;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  json(name: string): Record<string, unknown> {
    return JSON.parse(this.read(name));
  }

  /** Every file with its content, but for installed packages. */
  snapshot(): Record<string, string> {
    const names = readdirSync(this.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.path.length + 1))
      .filter((name) => !name.startsWith("node_modules"));
    return Object.fromEntries(names.sort().map((name) => [name, this.read(name)]));
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
