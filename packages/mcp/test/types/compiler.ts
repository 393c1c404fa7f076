import { join, resolve } from "node:path";
import ts from "typescript";

const folder = import.meta.dirname;
const header =
  'import { connect, content, prompt, Server, tool } from "@parley/mcp";\nimport { z } from "zod";\n' +
  'const info = { name: "said", version: "1" };\n';

/** What the compiler says of a program, and where. */
interface Said {
  /** The text that an editor underlines. */
  readonly at: string;
  /** The message with all its lines. */
  readonly text: string;
}

/** Compiles small programs, all at once because that is much faster; each has `Server`, `connect`, `z` and the like. */
export class Compiler {
  readonly #texts: Map<string, string>;
  readonly #service: ts.LanguageService;

  constructor(programs: Readonly<Record<string, string>>) {
    const texts = new Map(Object.entries(programs).map(([name, text]) => [fileOf(name), header + text]));
    const options = compilerOptions();
    const read = (file: string) => texts.get(file) ?? ts.sys.readFile(file);
    this.#texts = texts;
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [...texts.keys()],
      getScriptVersion: () => "1",
      getScriptSnapshot: (file) => {
        const text = read(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (file) => texts.has(file) || ts.sys.fileExists(file),
      readFile: read,
    });
  }

  /** The errors of one program. */
  errors(name: string): Said[] {
    const file = fileOf(name);
    const found = [...this.#service.getSyntacticDiagnostics(file), ...this.#service.getSemanticDiagnostics(file)];
    return found.map(({ start = 0, length = 0, messageText }) => ({
      at: this.#text(name).slice(start, start + length),
      text: ts.flattenDiagnosticMessageText(messageText, "\n"),
    }));
  }

  /** What an editor shows for the last occurrence of a word. */
  hover(name: string, word: string): string {
    const info = this.#service.getQuickInfoAtPosition(fileOf(name), this.#text(name).lastIndexOf(word));
    return ts.displayPartsToString(info?.displayParts);
  }

  /** What an editor suggests in the first empty string. */
  suggestions(name: string): string[] {
    const at = this.#text(name).indexOf('""') + 1;
    return (this.#service.getCompletionsAtPosition(fileOf(name), at, undefined)?.entries ?? []).map(
      (entry) => entry.name,
    );
  }

  #text(name: string): string {
    return this.#texts.get(fileOf(name)) ?? "";
  }
}

function fileOf(name: string): string {
  return join(folder, `said-${name}.ts`);
}

function compilerOptions(): ts.CompilerOptions {
  const config: unknown = ts.readConfigFile(resolve(folder, "../../tsconfig.test.json"), ts.sys.readFile).config;
  const ownFiles = { ...Object(config), include: [], files: [] };
  const { options } = ts.parseJsonConfigFileContent(ownFiles, ts.sys, resolve(folder, "../.."));
  // Unused names are no mistake in a program of one line.
  return { ...options, noUnusedLocals: false, noUnusedParameters: false, incremental: false };
}
