import { type ChildProcess, execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server } from "../packages/cli/test/fixtures/fixture-server.js";
import { consoleExamples, fencedBlocks, outputPattern } from "./fenced-blocks.js";

// The examples of the pages about the command line, run by a shell as a reader would.
//
//   ```console            run; every line behind `$ ` is a command, and what follows it is what it prints
//   $ parley list ./server.ts
//   …                     any lines; inside a line: any text
//   $ parley lock server.ts --check    # exits 5
//   ```sh                 shown only

const root = resolve(import.meta.dirname, "..");
const program = join(root, "packages/cli/bin/parley.js");
const everything = join(
  root,
  "packages/mcp/test/peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
);
const pages = readdirSync(import.meta.dirname).filter((name) => /^cli(?:-[a-z]+)*\.md$/.test(name));

function shell(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: number; printed: string }> {
  return new Promise((done) => {
    const child: ChildProcess = execFile(
      "bash",
      ["-c", command],
      { cwd, env, timeout: 110_000 },
      (error, stdout, stderr) => {
        const code = typeof error?.code === "number" ? error.code : error === null ? 0 : -1;
        done({ code, printed: stdout + stderr });
      },
    );
    child.stdin?.end();
  });
}

function examplesOf(page: string) {
  const blocks = fencedBlocks(readFileSync(join(import.meta.dirname, page), "utf8"));
  return blocks.filter(({ language }) => language === "console").flatMap(consoleExamples);
}

describe.skipIf(!existsSync(program)).each(pages)("%s", (page) => {
  let folder: string;
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-cli-docs-"));
    handle = await serveHttp(server, { port: 0 });
    const [bin, home] = [join(folder, ".bin"), join(folder, ".home")];
    for (const made of [bin, home]) mkdirSync(made);
    writeFileSync(join(bin, "parley"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(join(bin, "parley"), 0o755);
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
    writeFileSync(join(folder, "server.ts"), readFileSync(join(root, "packages/cli/test/fixtures/fixture-server.ts")));
    const stdio = { command: process.execPath, args: [program, "run", "./server.ts", "--stdio"], cwd: folder };
    const servers = { fixture: stdio, everything: { command: process.execPath, args: [everything, "stdio"] } };
    writeFileSync(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: servers }));
    const { PATH } = process.env;
    // The registry and the cache of npm, which a home without files would not have.
    const npm = Object.entries(process.env).filter(([name]) => name.startsWith("npm_config_"));
    env = {
      ...Object.fromEntries(npm),
      PATH: `${bin}:${PATH}`,
      HOME: home,
      XDG_CONFIG_HOME: join(home, ".config"),
      LANG: "C.UTF-8",
    };
  });
  afterAll(async () => {
    await handle?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // One after another: later lines of a page use what earlier ones made.
  it.each(examplesOf(page).map((example) => [`${page}:${example.line}`, example.command, example] as const))(
    "%s: $ %s",
    async (_at, command, { code, printed }) => {
      if (command.includes("everything") && !existsSync(everything))
        return console.log("server-everything is not installed: npm run peers");
      const own = command.replaceAll("http://127.0.0.1:3000", new URL(handle.url).origin);
      const ended = await shell(own, folder, env);
      const told = ended.printed.replaceAll(new URL(handle.url).origin, "http://127.0.0.1:3000");
      expect(ended.code, told).toBe(code);
      if (printed.length > 0) expect(told).toMatch(outputPattern(printed));
    },
  );
});

it("says so where the command line is not built", () => {
  if (!existsSync(program)) console.log("no example was run: the command line is not built, see `npm run build`");
  expect(pages).toContain("cli.md");
});
