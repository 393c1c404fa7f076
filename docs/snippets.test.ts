import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { formatWithOptions, promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NEWER_NODES } from "../packages/mcp/test/sqlite/newer-nodes.js";
import { bundleFixture } from "../packages/mcp/test/stdio/bundle-fixture.js";
import { fencedBlocks } from "./fenced-blocks.js";

// Every TypeScript block of the README and of the guides is written out, compiled and run in the order of its page. The page
// "Getting started" is run by release/run-page.ts instead, from an empty folder.
//
//   ```ts                  a module of its own
//   ```ts file=server.ts   one that later blocks of the page import as ./server.js
//   ```ts program=tool.ts  one that later blocks start as a process: `node tool.js`
//   ```ts sqlite           a program that needs a Node with SQLite: it is run until it has printed all, and ended by SIGTERM
//   ```ts peers            one that uses packages of packages/mcp/test/peers; left out where these are not installed
//   ```ts other            one of those that shows another library, whose types are not ours to check: it is only run
//
// Secrets that blocks take from the environment are set to random texts.
//
// `console.log(…); // prints x` claims that the module prints the line x.

const root = resolve(import.meta.dirname, "..");
const place = join(root, "docs/.snippets");
const peers = join(root, "packages/mcp/test/peers/node_modules");

interface Snippet {
  readonly page: string;
  /** The line of the page that holds the first line of the block. */
  readonly line: number;
  readonly use: "module" | "program" | "sqlite" | "peers" | "other";
  readonly file: string;
  readonly text: string;
}

const pages = [
  "README.md",
  "packages/mcp/README.md",
  ...readdirSync(join(root, "docs"), { encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && name !== "getting-started.md")
    .map((name) => `docs/${name}`),
];
const all = pages.flatMap(snippetsOf);
const usesPeers = ({ use }: Snippet) => use === "peers" || use === "other";
const sqliteNode = NEWER_NODES.find(({ installed }) => installed)?.binary;
const snippets = all.filter((snippet) =>
  usesPeers(snippet) ? existsSync(peers) : snippet.use !== "sqlite" || sqliteNode !== undefined,
);
if (snippets.length < all.length) {
  console.log(
    `snippets: ${all.length - snippets.length} need \`npm run peers\` or \`npm run runtimes\` and are left out`,
  );
}

function snippetsOf(page: string): Snippet[] {
  const folder = join(place, page.replace(/\W+/g, "-"));
  const blocks = fencedBlocks(readFileSync(join(root, page), "utf8")).filter(({ language }) => language === "ts");
  return blocks.map(({ words: [word = ""], line, text }, at) => {
    const [, kind, name] = /^(file|program)=(.+)$/.exec(word) ?? [];
    const use = kind === "program" ? kind : word === "sqlite" || word === "peers" || word === "other" ? word : "module";
    const below = use === "peers" || use === "other" ? "peers" : ".";
    return { page, line, use, file: join(folder, below, name ?? `block-${at + 1}.ts`), text };
  });
}

/** Some frameworks have their types in packages that are not installed: a module without types, and what follows from it. */
const UNTYPED = new Set([7016, 7006, 7031]);

const checked = snippets.filter(({ use }) => use !== "other");
function compile(): ts.Program {
  const files = checked.map(({ file }) => file);
  const config = ts.readConfigFile(join(root, "tsconfig.workspace.json"), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files }, ts.sys, root);
  // Blocks show one thing each, so not all that they name is used.
  return ts.createProgram(files, {
    ...options,
    incremental: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
  });
}

function typeErrors(program: ts.Program): string[] {
  return checked.flatMap(({ file, page, line, use }) =>
    [program.getSyntacticDiagnostics, program.getSemanticDiagnostics]
      .flatMap((diagnostics) => [...diagnostics(program.getSourceFile(file))])
      .filter(({ code }) => use !== "peers" || !UNTYPED.has(code))
      .map(({ file: source, start, messageText }) => {
        const at = line + (source?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0);
        return `${page}:${at} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
      }),
  );
}

/** What the block says that it prints. */
function claims(text: string): string[] {
  return [...text.matchAll(/console\.log\(.*\); \/\/ prints (.*)$/gm)].map(([, said = ""]) => said.trim());
}

async function run({ file, use, text }: Snippet): Promise<string[]> {
  process.chdir(dirname(file));
  if (use === "program" || use === "sqlite") {
    const bundled = await bundleFixture(pathToFileURL(file));
    const program = file.replace(/\.ts$/, ".js");
    writeFileSync(program, readFileSync(bundled));
    return use === "program" ? printedBy(program) : printedUntilEnded(program, claims(text));
  }
  const printed = vi.spyOn(console, "log").mockReturnValue();
  try {
    await import(pathToFileURL(file).href);
    return printed.mock.calls.map((args) => formatWithOptions({ breakLength: Number.POSITIVE_INFINITY }, ...args));
  } finally {
    printed.mockRestore();
  }
}

/** What a program without a client prints to stdout, which belongs to the protocol alone. */
async function printedBy(program: string): Promise<string[]> {
  const running = promisify(execFile)(process.execPath, [program], { timeout: 30_000 });
  running.child.stdin?.end();
  const { stdout } = await running;
  return stdout.split("\n").filter((line) => line !== "");
}

/** What a server prints before it is ended; it must leave by itself. */
async function printedUntilEnded(program: string, wanted: readonly string[]): Promise<string[]> {
  const env = { ...process.env, PORT: "0" };
  const child = spawn(sqliteNode ?? "", [program], { env, stdio: ["ignore", "pipe", "ignore"], timeout: 30_000 });
  const ended = once(child, "exit");
  const printed: string[] = [];
  let told = false;
  for await (const line of createInterface({ input: child.stdout })) {
    printed.push(line);
    if (told || !wanted.every((one) => printed.includes(one))) continue;
    // Once: programs take a second signal for an order to end at once.
    told = child.kill("SIGTERM");
  }
  expect(await ended).toEqual([0, null]);
  return printed;
}

describe("code in the documentation", () => {
  beforeAll(() => {
    // Samples take their secrets from the environment, and are refused without.
    for (const name of ["MCP_SECRET", "OAUTH_SECRET"])
      vi.stubEnv(name, `${name} of these tests, in 32 characters or more`);
    rmSync(place, { recursive: true, force: true });
    for (const snippet of snippets) {
      const folder = dirname(snippet.file);
      mkdirSync(folder, { recursive: true });
      writeFileSync(snippet.file, snippet.text);
      const modules = join(folder, "node_modules");
      if (usesPeers(snippet) && !existsSync(modules)) symlinkSync(peers, modules, "dir");
    }
    writeFileSync(join(place, "package.json"), '{ "type": "module" }\n');
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    process.chdir(root);
  });

  it("compiles", { timeout: 240_000 }, () => {
    expect(typeErrors(compile())).toEqual([]);
  });

  it.each(snippets.map((snippet) => [`${snippet.page}:${snippet.line} ${basename(snippet.file)}`, snippet] as const))(
    "runs and prints what it says: %s",
    async (_name, snippet) => {
      const printed = await run(snippet);
      if (snippet.use === "program") expect(printed, "a program prints to stdout what is no message").toEqual([]);
      for (const claim of claims(snippet.text)) expect(printed, printed.join("\n")).toContain(claim);
    },
  );
});
