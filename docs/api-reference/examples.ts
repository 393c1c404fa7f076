import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { fencedBlocks } from "../fenced-blocks.js";
import { root } from "./entries.js";

/** A program of the README or of a guide that uses a name; the tests compile and run it. */
export interface GuideExample {
  readonly page: string;
  readonly code: string;
}

const MAX_LINES = 40;

/** Finds the shortest program in the guides that imports a name. */
export class GuideExamples {
  readonly #programs: GuideExample[];

  constructor() {
    const guides = readdirSync(join(root, "docs"), { encoding: "utf8" }).filter((name) => name.endsWith(".md"));
    this.#programs = ["README.md", ...guides.map((name) => `docs/${name}`)].flatMap((page) => {
      const blocks = fencedBlocks(readFileSync(join(root, page), "utf8"));
      return blocks
        .filter(({ language, words }) => language === "ts" && !words.includes("other"))
        .map(({ text }) => ({ page, code: text }));
    });
  }

  /** True if a program of the page imports the name. */
  uses(page: string, name: string): boolean {
    return this.#programs.some(({ page: at, code }) => at === page && importsOf(code).includes(name));
  }

  /** A name that several entries export may be imported from any of them. */
  of(name: string): GuideExample | undefined {
    const word = new RegExp(`\\b${name}\\b`, "g");
    return this.#programs
      .filter(({ code }) => importsOf(code).includes(name) && (code.match(word)?.length ?? 0) > 1)
      .filter(({ code }) => code.split("\n").length <= MAX_LINES)
      .toSorted((a, b) => a.code.length - b.code.length)[0];
  }
}

function importsOf(code: string): string[] {
  const found = code.matchAll(/^import \{([^}]*)\} from "@parley\/[\w/-]+";$/gm);
  return [...found].flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()));
}

/** The type errors of examples in doc comments, each a module; `name` says whose example it is. */
export function typeErrorsOf(examples: readonly { readonly name: string; readonly code: string }[]): string[] {
  const config = ts.readConfigFile(join(root, "tsconfig.workspace.json"), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const settings = { ...options, incremental: false, noUnusedLocals: false, noUnusedParameters: false };
  const texts = new Map(examples.map(({ code }, at) => [join(root, `docs/example-${at}.ts`), `${code}\nexport {};\n`]));
  const host = ts.createCompilerHost(settings, true);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, language, ...more) => {
    const text = texts.get(path);
    return text === undefined
      ? getSourceFile(path, language, ...more)
      : ts.createSourceFile(path, text, language, true);
  };
  const program = ts.createProgram([...texts.keys()], settings, host);
  return [...texts.keys()].flatMap((path, at) => {
    const file = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(
      ({ messageText }) => `${examples[at]?.name}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  });
}
