import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { beforeAll, describe, expect, it, vi } from "vitest";

// Every TypeScript block of the README and of the guides is written out, compiled and run. ```ts file=name.ts gives a
// block the name by which other blocks of the same page import it.

const root = resolve(import.meta.dirname, "..");
const place = join(root, "docs/.snippets");

interface Snippet {
  readonly page: string;
  readonly file: string;
  readonly text: string;
}

const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"), { encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const snippets = pages.flatMap(snippetsOf);

function snippetsOf(page: string): Snippet[] {
  const blocks = readFileSync(join(root, page), "utf8").matchAll(/^```ts(?: file=(\S+))?\n([\s\S]*?)^```$/gm);
  const folder = page.replace(/\W+/g, "-");
  return [...blocks].map(([, name, text], at) => ({
    page,
    file: join(place, folder, name ?? `block-${at + 1}.ts`),
    text: text ?? "",
  }));
}

function typeErrors(files: readonly string[]): string[] {
  const config = ts.readConfigFile(join(root, "tsconfig.workspace.json"), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files }, ts.sys, root);
  const program = ts.createProgram(files, options);
  return files
    .flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    .map(({ file, start, messageText }) => {
      const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
      return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
}

describe("code in the documentation", () => {
  beforeAll(() => {
    rmSync(place, { recursive: true, force: true });
    for (const { file, text } of snippets) {
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, text);
    }
    writeFileSync(join(place, "package.json"), '{ "type": "module" }\n');
  });

  it("compiles", { timeout: 60_000 }, () => {
    expect(typeErrors(snippets.map(({ file }) => file))).toEqual([]);
  });

  it.each(snippets.map(({ page, file }) => [page, file.slice(place.length + 1), file]))(
    "runs: %s, %s",
    async (_page, _name, file) => {
      await import(pathToFileURL(file).href);
    },
  );

  it("prints what the README's client is told by the README's server", async () => {
    const printed = vi.spyOn(console, "log").mockReturnValue();
    vi.resetModules();
    await import(pathToFileURL(join(place, "README-md/client.ts")).href);
    expect(printed.mock.calls.flat()).toEqual(["forecast", 21.4]);
    printed.mockRestore();
  });
});
