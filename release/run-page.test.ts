import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NEWER_NODES } from "../packages/mcp/test/sqlite/newer-nodes.js";
import { type RunPageOptions, runPage } from "./run-page.js";

const env = { PATH: process.env["PATH"] ?? "" };
let own: string;
let folder: string;

beforeEach(() => {
  own = mkdtempSync(join(tmpdir(), "parley-run-page-"));
  folder = join(own, "empty");
  mkdirSync(folder);
});
afterEach(() => rmSync(own, { recursive: true, force: true }));

const fenced = (info: string, ...lines: string[]) => `\`\`\`${info}\n${lines.join("\n")}\n\`\`\`\n`;

/** Runs a page of these blocks, which begin at its third line. */
function runs(blocks: readonly string[], more: Partial<RunPageOptions> = {}) {
  const page = join(own, "page.md");
  writeFileSync(page, `# A page\n\n${blocks.join("\nText.\n\n")}`);
  return runPage({ page, folder, env, ...more });
}

/** A program that serves until it is ended, and writes its process id. */
const SERVER = `import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
writeFileSync("pid", String(process.pid));
const server = createServer((request, response) => response.end("hello"));
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.error(\`serving at http://127.0.0.1:\${server.address().port}/mcp\`);
});`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a page that is right", () => {
  it("runs line by line: commands, folders, files and printed output", async () => {
    const steps = await runs([
      fenced("sh", "mkdir notes && cd notes   # the folder holds from here on", "", "# a comment"),
      fenced("js file=src/main.mjs", "console.log('one');", "console.error('two');", "process.exitCode = 3;"),
      fenced("console", "$ node src/main.mjs    # exits 3", "one", "tw…", "$ pwd", "…/notes"),
      fenced("json shown", '{ "not": "written" }'),
      fenced("sh", "cd ..", "test -f notes/src/main.mjs"),
    ]);
    expect(steps.map(({ line, command }) => [line, command])).toEqual([
      [4, "mkdir notes && cd notes   # the folder holds from here on"],
      [20, "node src/main.mjs"],
      [23, "pwd"],
      [36, "cd .."],
      [37, "test -f notes/src/main.mjs"],
    ]);
    expect(steps[1]?.printed).toBe("one\ntwo\n");
  });

  it.skipIf(!NEWER_NODES.some(({ installed }) => installed))("uses the given Node, and the blocks for it", async () => {
    const node = NEWER_NODES.find(({ installed }) => installed)?.binary ?? "";
    const blocks = [
      fenced("sh node>=22.13", "node --version > newer"),
      fenced("sh node<22.13", "node --version > older"),
    ];
    await runs(blocks, { node });
    await runs(blocks, { node: process.execPath });
    const version = (binary: string) => execFileSync(binary, ["--version"], { encoding: "utf8" });
    expect(readFileSync(join(folder, "newer"), "utf8")).toBe(version(node));
    if (/^v20\./.test(process.version)) expect(readFileSync(join(folder, "older"), "utf8")).toBe(version("node"));
  });

  it("starts programs in the background, at a free port, and ends them", async () => {
    const steps = await runs([
      fenced("js file=serve.mjs", SERVER),
      fenced("console background", "$ node serve.mjs", "serving at http://127.0.0.1:3000/mcp"),
      fenced("js file=ask.mjs", "console.log(process.argv[2], await (await fetch(process.argv[2])).text());"),
      fenced("console", "$ node ask.mjs http://127.0.0.1:3000/", "http://127.0.0.1:3000/ hello"),
    ]);
    expect(steps).toHaveLength(2);
    expect(isRunning(Number(readFileSync(join(folder, "pid"), "utf8")))).toBe(false);
  });
});

describe("a page that is wrong", () => {
  it.each([
    ["a command that fails", [fenced("sh", "true", "echo no >&2; exit 4")], /page\.md:5: .* ended with 4 .*\nno$/],
    [
      "a command that succeeds and should not",
      [fenced("sh", "true # exits 2")],
      /:4: `true` ended with 0 instead of 2/,
    ],
    ["output that differs", [fenced("console", "$ echo one", "two")], /:4: `echo one` printed something else .*\none$/],
    ["output that is longer", [fenced("console", "$ printf 'one\\ntwo'", "one")], /printed something else/],
    ["a file of no block", [fenced("sh", "node main.mjs")], /:4: .*ended with 1[\s\S]*Cannot find module/],
    ["a block that is not run", [fenced("ts", "export {};")], /:4: this block is not run/],
    ["a word that is unknown", [fenced("sh backgrund", "true")], /:4: unknown words in "sh backgrund"/],
    ["a program that ends", [fenced("sh background", "echo done")], /:4: .* ended with 0 instead of serving\ndone$/],
    [
      "a program whose address does not answer",
      [fenced("sh background", "echo http://127.0.0.1:1/; exec sleep 600")],
      /does not answer at http:\/\/127\.0\.0\.1:1\//,
    ],
  ])("is refused: %s", async (_what, blocks, message) => {
    await expect(runs(blocks)).rejects.toThrow(message);
  });

  it("is refused without one of its steps", async () => {
    const blocks = [
      fenced("sh", "mkdir notes", "cd notes"),
      fenced("sh", "npm init -y", "npm pkg set type=module"),
      fenced("js file=main.js", "console.log(await 1);"),
      fenced("console", "$ node main.js", "1"),
    ];
    await runs(blocks);
    const without = (line: string) => blocks.map((block) => block.replace(`${line}\n`, ""));
    for (const line of ["mkdir notes", "npm init -y"]) {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      await expect(runs(without(line)), line).rejects.toThrow(/page\.md:\d+: `.*` ended with/);
    }
  });

  it("ends programs that hang, with everything that they started", async () => {
    const hanging = fenced("sh", "sleep 600 & echo $! > pid; wait");
    await expect(runs([hanging], { limitMs: 1000 })).rejects.toThrow(/did not end within 1 s/);
    await expect.poll(() => isRunning(Number(readFileSync(join(folder, "pid"), "utf8")))).toBe(false);
  });

  it("ends programs in the background when a later line fails", async () => {
    const serving = [fenced("js file=serve.mjs", SERVER), fenced("sh background", "node serve.mjs")];
    await expect(runs([...serving, fenced("sh", "false")])).rejects.toThrow(/`false` ended with 1/);
    await expect.poll(() => isRunning(Number(readFileSync(join(folder, "pid"), "utf8")))).toBe(false);
    expect(existsSync(join(folder, "serve.mjs"))).toBe(true);
  });
});
