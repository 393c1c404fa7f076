// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of a template is what is tried
import { execFile } from "node:child_process";
import {
  existsSync,
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
import { promisify } from "node:util";
import { connect } from "@parley/mcp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { isBuilt } from "../run/built-parley.js";

const root = join(import.meta.dirname, "../../../..");
const run = promisify(execFile);

/** Lets a project outside the repository find what `npm install` would bring. */
function linkPackages(folder: string): void {
  for (const name of ["@parley/mcp", "zod", "@types/node", "undici-types", "typescript"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(root, "node_modules", name)), link);
  }
}

describe("parley init", () => {
  let place: string;
  beforeEach(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), "parley-init-")));
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  it("makes a project that compiles, whose tests pass, and that runs on stdio and HTTP", async () => {
    const { code, stdout } = await runParley(["init", "My Server"], { cwd: place });
    expect(code).toBe(0);
    expect(stdout).toContain("npm install");
    const folder = join(place, "My Server");
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({
      name: "my-server",
      bin: { "my-server": "dist/stdio.js" },
    });
    linkPackages(folder);

    await run(process.execPath, [join(folder, "node_modules/typescript/bin/tsc")], { cwd: folder });
    const tests = await run(process.execPath, ["--test", "dist/server.test.js"], { cwd: folder });
    expect(tests.stdout).toMatch(/pass 6\b/);
    expect(tests.stdout).toMatch(/fail 0\b/);

    await using client = await connect({ command: process.execPath, args: [join(folder, "dist/stdio.js")] });
    expect(client.serverInfo?.name).toBe("my-server");
    expect(await client.call("add", { a: 20, b: 22 })).toEqual({ sum: 42 });
  });

  it("serves over HTTP", async () => {
    await runParley(["init", "web", "--transport", "http"], { cwd: place });
    const folder = join(place, "web");
    linkPackages(folder);
    expect(existsSync(join(folder, "src/stdio.ts"))).toBe(false);
    await run(process.execPath, [join(folder, "node_modules/typescript/bin/tsc")], { cwd: folder });
    const child = execFile(process.execPath, ["dist/http.js"], { cwd: folder, env: { ...process.env, PORT: "0" } });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let said = "";
        child.stderr?.on("data", (chunk: string) => {
          said += chunk;
          const [, found] = /serving at (\S+)/.exec(said) ?? [];
          if (found !== undefined) resolve(found);
        });
        child.once("exit", () => reject(new Error(said)));
      });
      await using client = await connect(url);
      expect(await client.call("add", { a: 1, b: 1 })).toEqual({ sum: 2 });
    } finally {
      child.kill();
      await ended;
    }
  });

  it("writes odd names and descriptions as they are, and says what it wrote in JSON", async () => {
    const description = 'Says "hi" \\ `${1}` */ <b>';
    const { stdout, code } = await runParley(["init", ".", "--name", "@me/x", "--description", description, "--json"], {
      cwd: place,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ folder: place, name: "@me/x" });
    expect(readFileSync(join(place, "src/server.ts"), "utf8")).toContain(JSON.stringify(description));
    linkPackages(place);
    await run(process.execPath, [join(place, "node_modules/typescript/bin/tsc"), "--noEmit"], { cwd: place });
  });

  it("shows lines that a shell reads, whatever the folder is called", async () => {
    const { stdout, stderr } = await runParley(["init", "My Server!", "--yes"], { cwd: place });
    expect(`${stdout}${stderr}`).toContain("  cd 'My Server!'\n");
  });

  it("refers to the packages of the checkout that it runs from", async () => {
    await runParley(["init", "made"], { cwd: place });
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(place, "made/package.json"), "utf8"));
    const specs = { ...dependencies, ...devDependencies };
    for (const name of ["mcp", "cli", "inspector"])
      expect(specs[`@parley/${name}`]).toBe(`file:${realpathSync(join(root, "packages", name))}`);
  });

  it.each(["stdio", "http", "both"])("names no foreign package and no noisy command, for %s", async (transport) => {
    const { stdout } = await runParley(["init", "made", "--transport", transport], { cwd: place });
    const written = ["README.md", "AGENTS.md", "package.json"].map((name) => join(place, "made", name));
    const text = [stdout, ...written.map((path) => readFileSync(path, "utf8"))].join("\n");
    expect(text).toContain("npx @parley/cli call src/server.ts");
    expect(text).not.toMatch(/npx parley/);
    expect(text).not.toMatch(/npm (?:run )?start/);
  });

  it("asks for a folder by the line to type if this one has files", async () => {
    writeFileSync(join(place, "mine.txt"), "mine");
    const { code, stderr } = await runParley(["init"], { cwd: place });
    expect(code).toBe(2);
    expect(stderr).toContain(`${place} is not empty\nfix:   Name a new folder: \`parley init my-server\`.`);
  });

  it("says that npm failed, and leaves the files and the line to repeat", async () => {
    writeFileSync(join(place, "npm"), "#!/bin/sh\necho no network\nexit 7\n", { mode: 0o755 });
    const { code, stdout, stderr } = await runParley(["init", "made", "--install"], {
      cwd: place,
      env: { PATH: `${place}:${process.env["PATH"]}` },
    });
    expect(code).toBe(1);
    expect(stderr).toContain("no network\nerror: `npm install` failed: exit code 7\n");
    expect(stdout).toContain("  npm install\n");
    expect(existsSync(join(place, "made/src/server.ts"))).toBe(true);
  });

  it.skipIf(!isBuilt).each([
    [["--nme", "x"], "error: unknown option '--nme'\nfix:   Did you mean --name? See `create-parley --help`."],
    [["a", "b"], 'error: unexpected argument "b"\nfix:   Use `create-parley [folder]`.'],
    [[], "is not empty\nfix:   Name a new folder: `npm create parley@latest my-server`."],
    [["a", "--transport", "pigeon"], "Allowed choices are stdio, http, both."],
  ])("create-parley %j fails as parley does", async (args, text) => {
    writeFileSync(join(place, "mine.txt"), "mine");
    const program = join(root, "packages/create-parley/bin/create-parley.js");
    const failed = await run(process.execPath, [program, ...args], { cwd: place }).catch((reason) => reason);
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
    expect(readdirSync(place)).toEqual(["mine.txt"]);
  });

  it.each([
    [["init", "used"], "is not empty"],
    [["init", "file"], "is not a folder"],
    [["init", "new", "--name", "Not A Name"], "is not a valid package name"],
    [["init", "new", "--transport", "pigeon"], "pigeon"],
  ])("%j fails with its cause and a fix, and writes nothing", async (args, cause) => {
    mkdirSync(join(place, "used"));
    writeFileSync(join(place, "used/mine.txt"), "mine");
    writeFileSync(join(place, "file"), "mine");
    const { code, stderr } = await runParley(args, { cwd: place });
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(2);
    expect(readdirSync(place).sort()).toEqual(["file", "used"]);
    expect(readdirSync(join(place, "used"))).toEqual(["mine.txt"]);
  });
});
