import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../../../..");

/** The compilers of the repository, by their programs. */
export const COMPILERS = { "TypeScript 5.9": "typescript/bin/tsc", "TypeScript 7": "typescript-7/bin/tsc" } as const;

/** A folder of its own in which generated files are compiled as a user does, with every strictness. */
export class TypeScriptProject implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "parley-types-"));

  constructor() {
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"), "dir");
    this.write("package.json", '{ "type": "module" }');
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      noImplicitReturns: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
      isolatedDeclarations: true,
      declaration: true,
      erasableSyntaxOnly: true,
      // Otherwise a generated .d.ts would not be looked at.
      skipLibCheck: false,
      module: "nodenext",
      target: "es2022",
      lib: ["ES2023", "ESNext.Disposable", "DOM"],
      types: [],
      noEmit: true,
    };
    this.write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** What a compiler says; nothing if it is content. */
  async compile(program: string): Promise<string> {
    const tsc = join(root, "node_modules", program);
    return run(process.execPath, [tsc, "-p", this.folder], { maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout }) => stdout,
      (error: { stdout?: string; message: string }) => error.stdout || error.message,
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
