import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { connect } from "@parley/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RUNTIMES } from "../../../mcp/test/runtimes/runtime.js";
import manifest from "../../package.json" with { type: "json" };
import { BuiltParley, isBuilt } from "../run/built-parley.js";

const packages = resolve(import.meta.dirname, "../../..");
const execute = promisify(execFile);
/** Ends an installation that hangs. */
const MAX_MS = 600_000;

const NEWER_NODES = RUNTIMES.filter(({ name }) => name.startsWith("Node "));
for (const { name, installed } of NEWER_NODES)
  if (!installed)
    console.log(`projects: ${name} is not installed (npm run runtimes); no project was run without a build`);

// Everything here is installed by npm into folders outside of the checkout, from tarballs; no registry has these packages.
describe.skipIf(!isBuilt)("installed from tarballs", { timeout: MAX_MS }, () => {
  let place: string;
  let tarballs: Record<string, string>;
  /** The folder with the globally installed programs. */
  let bin: string;
  let library: string;

  /** Runs a program to its end, and returns what it printed. Rejects if it fails. */
  const run = async (program: string, args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) => {
    const env = { ...process.env, ...options.env };
    const { stdout } = await execute(program, args, { cwd: options.cwd, env, maxBuffer: 16 * 1024 * 1024 });
    return stdout;
  };
  const npm = (cwd: string, ...args: string[]) =>
    run("npm", args, { cwd, env: { npm_config_prefer_offline: "true", npm_config_loglevel: "error" } });
  const parley = (cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    run("parley", args, { cwd, env: { PATH: `${bin}${delimiter}${process.env["PATH"]}`, ...env } });

  /** Packs a package of the repository by a copy, in which `local-packages.json` disturbs no other test. */
  async function pack(name: string): Promise<void> {
    const copy = join(place, "copies", name);
    cpSync(join(packages, name), copy, { recursive: true, filter: (from) => !/[\\/](node_modules|test)$/.test(from) });
    writeFileSync(join(copy, "dist/local-packages.json"), JSON.stringify(tarballs));
    await npm(copy, "pack", "--ignore-scripts", "--pack-destination", place);
  }

  beforeAll(async () => {
    place = realpathSync(mkdtempSync(join(tmpdir(), "parley installed-")));
    const names = ["mcp", "inspector", "cli"];
    tarballs = Object.fromEntries(
      names.map((name) => [`@parley/${name}`, join(place, `parley-${name}-${manifest.version}.tgz`)]),
    );
    await Promise.all([...names, "create-parley"].map(pack));
    const prefix = join(place, "global");
    const create = join(place, `create-parley-${manifest.version}.tgz`);
    await npm(place, "install", "--global", "--prefix", prefix, ...Object.values(tarballs), create);
    bin = join(prefix, "bin");
    library = createRequire(realpathSync(join(bin, "parley"))).resolve("@parley/mcp");
  }, MAX_MS);
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  describe("a project", () => {
    let folder: string;
    let printed: string;
    beforeAll(async () => {
      folder = join(place, "by-init");
      printed = await parley(place, ["init", "by-init", "--name", "made", "--yes", "--install"]);
    }, MAX_MS);

    it("is byte for byte the same by `parley init` and by `create-parley`", async () => {
      const words = [join(bin, "create-parley"), "by-create", "--name", "made"];
      const printed = await run(process.execPath, words, { cwd: place, env: { PATH: "" } });
      expect(filesOf(join(place, "by-create"))).toEqual(filesOf(folder));
      expect(printed).toContain("\n  cd by-create\n  npm install\n  npm test\n  npx @parley/cli call src/server.ts");
    });

    it("is installed, and the first lines that are shown work", async () => {
      expect(printed).toContain("\n  cd by-init\n  npm test\n  parley call src/server.ts");
      expect(printed).not.toContain("npx");
      expect(await npm(folder, "test")).toMatch(/^# pass 6$/m);
      expect(await npm(folder, "exec", "--", "@parley/cli", "call", "src/server.ts", "add", "a=1", "b=2")).toContain(
        '"sum": 3',
      );
      expect(await parley(folder, ["call", "src/server.ts", "add", "a=1", "b=2"])).toContain('"sum": 3');
    });

    it("names commands in its README that print nothing but messages", async () => {
      await npm(folder, "run", "build");
      const readme = readFileSync(join(folder, "README.md"), "utf8").replaceAll("/path/to/made/", `${folder}/`);
      const commands = stdioCommands(readme);
      expect(commands.length).toBeGreaterThanOrEqual(4);
      for (const command of commands) {
        const report = JSON.parse(await parley(folder, ["doctor", "--json", "--", ...command]));
        expect(report.ok, JSON.stringify(report)).toBe(true);
        expect(report.steps).toContainEqual(expect.objectContaining({ step: "stdout", detail: "messages only" }));
      }
    });

    it.each(NEWER_NODES.filter(({ installed }) => installed))("runs on $name without a build", async ({ binary }) => {
      rmSync(join(folder, "dist"), { recursive: true, force: true });
      expect(await run(binary, ["--test", "src/server.test.ts"], { cwd: folder })).toMatch(/^(?:#|ℹ) pass 6$/m);
      const target = { command: binary, args: [join(folder, "src/stdio.ts")] };
      await using client = await connect(target, { strict: true });
      expect(await client.call("add", { a: 20, b: 22 })).toEqual({ sum: 42 });
    });

    it("refers to the tarballs that npm installed the command line from", async () => {
      const consumer = join(place, "consumer");
      mkdirSync(consumer);
      writeFileSync(join(consumer, "package.json"), '{ "private": true }');
      await npm(consumer, "install", ...Object.values(tarballs));
      rmSync(join(consumer, "node_modules/@parley/cli/dist/local-packages.json"));
      await npm(consumer, "exec", "--", "@parley/cli", "init", "made", "--yes");
      const { dependencies, devDependencies } = JSON.parse(readFileSync(join(consumer, "made/package.json"), "utf8"));
      const files = Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`]));
      expect({ ...dependencies, ...devDependencies }).toMatchObject(files);
    });
  });

  describe("a lone server.ts", () => {
    const SOURCE = `import { Server } from "@parley/mcp";
import { skills } from "@parley/mcp/skills";
export const server = new Server({ name: "lone", version: "1.0.0" })
  .tool("same", { description: "Compares", input: { type: "object", properties: {} } }, () => \`\${globalThis.installedServer === Server} \${typeof skills}\`);
`;
    let folder: string;
    let env: Record<string, string>;
    beforeAll(() => {
      folder = join(place, "lone");
      mkdirSync(folder);
      writeFileSync(join(folder, "server.ts"), SOURCE);
      const preload = join(place, "preload.mjs");
      const url = JSON.stringify(pathToFileURL(library).href);
      writeFileSync(preload, `import { Server } from ${url};\nglobalThis.installedServer = Server;\n`);
      env = { NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` };
    });

    it("uses the library of an installed parley, the same copy", async () => {
      expect(await parley(folder, ["call", "server.ts", "same"], env)).toBe("true function\n");
      expect(readdirSync(folder)).toEqual(["server.ts"]);
    });

    it.each([
      [["list", "server.ts", "tools"], "same"],
      [["info", "server.ts"], "lone"],
      [["lint", "server.ts"], ""],
      [["types", "server.ts"], "same"],
      [["doctor", "server.ts"], "The server works."],
      [["tokens", "server.ts"], "same"],
    ])("is a target of parley %j", async (args, shown) => {
      expect(await parley(folder, args)).toContain(shown);
    });

    it("is served by parley run, on stdio and with --watch", async () => {
      const served = { command: join(bin, "parley"), args: ["run", "server.ts", "--stdio", "--watch"], cwd: folder };
      await using client = await connect(served, { strict: true });
      expect(await client.call("same")).toBe("false function");
      const { tools: before } = await client.listTools();
      let changed = () => {};
      const change = new Promise<void>((done) => {
        changed = done;
      });
      client.on("notifications/tools/list_changed", changed);
      await client.subscribe({ tools: true });
      writeFileSync(join(folder, "server.ts"), `${SOURCE}server.tool("more", () => "more");\n`);
      await change;
      expect((await client.listTools()).tools.length).toBe(before.length + 1);
      writeFileSync(join(folder, "server.ts"), SOURCE);
    });

    it("is added to an application, whose entry starts it", async () => {
      const home = join(place, "home");
      mkdirSync(home);
      const added = ["add", "./server.ts", "--to", "claude", "--json"];
      const { entry } = JSON.parse(await parley(folder, added, { HOME: home, XDG_CONFIG_HOME: join(home, ".config") }));
      await using client = await connect({ command: entry.command, args: entry.args, cwd: place }, { strict: true });
      expect(client.serverInfo?.name).toBe("lone");
    });

    it("uses its own copy of the library if there is one", async () => {
      const own = join(place, "own");
      cpSync(folder, own, { recursive: true });
      await npm(own, "install", tarballs["@parley/mcp"] as string);
      expect(await parley(own, ["call", "server.ts", "same"], env)).toBe("false function\n");
    });

    it.each([
      ["zod", "the package zod is not installed", "Run `npm install zod` in the folder of the module, or write"],
      ["@parley/redis", "the package @parley/redis is not installed", "Run `npm install @parley/redis` in the folder"],
      ["@parley/mcp/nope", 'the package @parley/mcp has no entry "@parley/mcp/nope"', "Check the path"],
    ])("that imports %s fails with its cause and a fix", async (name, cause, fix) => {
      writeFileSync(join(folder, "missing.ts"), `import { x } from "${name}";\n${SOURCE}x();\n`);
      await using failed = new BuiltParley(["call", "missing.ts", "same"], { cwd: folder });
      expect(await failed.ended(), failed.stderr).toBe(3);
      expect(failed.stderr).toContain(`missing.ts:1: ${cause}\nfix:   ${fix}`);
    });
  });
});

/** The files of a project by their paths, without those that npm and the compiler make. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !/^(?:node_modules|dist|package-lock\.json)/.test(name) && statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** The commands of a README by which an application starts the server: in a shell, in JSON, and behind `claude mcp add`. */
function stdioCommands(readme: string): string[][] {
  const shell = [...readme.matchAll(/^(.*?) +# serves on stdin and stdout$/gm)].map(([, line = ""]) => line.split(" "));
  const added = [...readme.matchAll(/^claude mcp add .* -- (.*)$/gm)].map(([, line = ""]) => words(line));
  const configured = [...readme.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => {
    const { mcpServers, servers } = JSON.parse(text) as Record<
      string,
      Record<string, { command: string; args: string[] }>
    >;
    const [entry] = Object.values(mcpServers ?? servers ?? {});
    return entry === undefined ? [] : [entry.command, ...entry.args];
  });
  return [...shell, ...added, ...configured];
}

/** The program and its only argument, whose path may have spaces. */
function words(line: string): string[] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
}
