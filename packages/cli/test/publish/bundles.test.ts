// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references that applications resolve
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, connect } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { checkServerJson } from "../../src/publish/server-json-rules.js";
import { runParley } from "../kit/run-parley.js";
import { isBuilt } from "../run/built-parley.js";
import { MANIFEST, PNG, PublishFolder } from "./publish-folder.js";

const root = resolve(import.meta.dirname, "../../../..");
const examples = join(root, "examples");
const peers = join(root, "packages/mcp/test/peers/node_modules");
const mcpb = join(peers, "@anthropic-ai/mcpb/dist");
const node24 = join(root, "packages/mcp/test/runtimes/node_modules/node24/bin/node");
const isReady = isBuilt && existsSync(mcpb);
if (!isReady) console.log("bundles are not tested: run `npm run build` and `npm run peers`");

const RELEASE = "https://github.com/ada/notes/releases/download/v{version}/notes.mcpb";

/** The part of the official tool that resolves the variables of a manifest. */
interface BundleTool {
  getMcpConfigForManifest(options: object): Promise<{ command: string; args: string[]; env?: Record<string, string> }>;
}

/** Installs a bundle into an empty folder with the official tool, starts it as an application does, and uses it. */
async function useBundle(
  path: string,
  userConfig: object,
  use: (client: Client, manifest: Record<string, unknown>) => Promise<void>,
) {
  const folder = mkdtempSync(join(tmpdir(), "parley-installed-"));
  try {
    const tool = (...args: string[]) => execFileSync(process.execPath, [join(mcpb, "cli/cli.js"), ...args]).toString();
    tool("unpack", path, folder);
    expect(tool("validate", join(folder, "manifest.json"))).toContain("Manifest schema validation passes!");
    const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
    const { getMcpConfigForManifest } = (await import(
      pathToFileURL(join(mcpb, "shared/config.js")).href
    )) as BundleTool;
    const options = { manifest, extensionPath: folder, systemDirs: {}, userConfig, pathSeparator: sep };
    const { command, args, env } = await getMcpConfigForManifest(options);
    expect(command).toBe("node");
    expect(readdirSync(join(folder, "server"))).toEqual(["index.mjs"]);
    // Of this Node, in a folder without packages, and without the variables of the shell.
    await using client = await connect({ command: process.execPath, args, env, cwd: folder });
    await use(client, manifest);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Publishes a project with a bundle, and returns its document and the path of the bundle. */
async function publishBundle(folder: PublishFolder, ...args: string[]) {
  const options = ["--mcpb", "--mcpb-url", RELEASE, "--write"];
  const { code, stdout, stderr } = await runParley(["publish", ...options, ...args], { cwd: folder.path });
  expect(code, stdout + stderr).toBe(0);
  const document = folder.json("server.json");
  expect(checkServerJson(document)).toEqual([]);
  const bundle = join(folder.path, "notes.mcpb");
  const fileSha256 = createHash("sha256").update(readFileSync(bundle)).digest("hex");
  const identifier = RELEASE.replace("{version}", "1.2.3");
  expect(document["packages"]).toMatchObject([
    { registryType: "npm" },
    { registryType: "mcpb", identifier, fileSha256 },
  ]);
  return { document, bundle, stdout, fileSha256 };
}

const textIn = (result: { content: readonly object[] }) => (result.content[0] as { text?: string } | undefined)?.text;

describe.skipIf(!isReady)("a bundle", () => {
  it("of the quickstart is installed and called, and is the same when it is built again", async () => {
    using folder = new PublishFolder(MANIFEST, { "icon.png": PNG, "README.md": "# Notes\n" }).install(
      join(root, "node_modules"),
    );
    cpSync(join(examples, "quickstart/server.ts"), join(folder.path, "server.ts"));
    const { bundle, fileSha256 } = await publishBundle(folder, "./server.ts");
    await useBundle(bundle, {}, async (client, manifest) => {
      expect(manifest).toMatchObject({
        icon: "icon.png",
        author: { name: "Ada", email: "ada@example.com", url: "https://example.com" },
      });
      expect(manifest["tools"]).toEqual([{ name: "forecast", description: "Forecast for a city" }]);
      const { isError, structuredContent } = await client
        .callTool("forecast", { city: "Oslo" })
        .catch(() => ({ isError: true, structuredContent: undefined }));
      // The tool asks a question, which this client cannot answer.
      expect([isError, structuredContent]).toEqual([true, undefined]);
      expect(client.serverInfo).toMatchObject({ name: "weather" });
    });
    expect((await publishBundle(folder, "./server.ts")).fileSha256).toBe(fileSha256);
  });

  it("of every feature is installed and called", async () => {
    using folder = new PublishFolder().install(join(root, "node_modules"));
    cpSync(join(examples, "everything"), join(folder.path, "src"), { recursive: true });
    const { bundle, document } = await publishBundle(folder, "./src/server.ts");
    expect(document).toMatchObject({ title: "Everything", websiteUrl: "https://example.com" });
    await useBundle(bundle, {}, async (client, manifest) => {
      expect(await client.callTool("sum", { numbers: [1, 2, 3] })).toMatchObject({ structuredContent: { sum: 6 } });
      expect((manifest["tools"] as { name: string }[]).map(({ name }) => name)).toEqual(
        (await client.allTools()).map(({ name }) => name),
      );
      expect(manifest["prompts"]).toMatchObject([{ name: "greet", text: "Say hello to ${arguments.name}." }]);
      // The other prompt is more than one text.
      expect(manifest["prompts_generated"]).toBe(true);
    });
  });

  it("of a program with settings gets them from the application, and their values are written nowhere", async () => {
    using folder = new PublishFolder({ ...MANIFEST, bin: { notes: "main.mjs" } }).install(join(root, "node_modules"));
    cpSync(join(examples, "files/server.ts"), join(folder.path, "server.ts"));
    folder.write(
      "main.mjs",
      `#!/usr/bin/env node
      import { serveStdio } from "@parley/mcp/node";
      const { serveFolder } = await import("./server.ts").catch(() => import("./built.mjs"));
      await serveStdio(serveFolder(process.env["NOTES_FOLDER"] ?? ""));`,
    );
    // Node 20 starts no TypeScript, so the program of the package is JavaScript, as it would be after a build.
    folder.write(
      "built.mjs",
      (await import("typescript")).transpileModule(folder.read("server.ts"), {
        compilerOptions: { module: 99, target: 9 },
      }).outputText,
    );
    folder.write("notes/a.txt", "remember");
    const { bundle, document } = await publishBundle(
      folder,
      "--env",
      `NOTES_FOLDER=${join(folder.path, "notes")}`,
      "--secret",
      "NOTES_PIN=4711-secret",
    );
    const environmentVariables = [
      { name: "NOTES_FOLDER", isRequired: true },
      { name: "NOTES_PIN", isRequired: true, isSecret: true },
    ];
    expect(document["packages"]).toMatchObject([{ environmentVariables }, { environmentVariables }]);
    for (const text of [folder.read("server.json"), readFileSync(bundle, "latin1")])
      expect(text).not.toContain("4711-secret");
    const settings = { NOTES_FOLDER: join(folder.path, "notes"), NOTES_PIN: "1" };
    await useBundle(bundle, settings, async (client, manifest) => {
      expect(manifest["user_config"]).toMatchObject({
        NOTES_FOLDER: { type: "string", required: true },
        NOTES_PIN: { sensitive: true },
      });
      expect(JSON.stringify(manifest)).not.toContain("4711-secret");
      expect(await client.readResource("folder:///a.txt")).toMatchObject({ contents: [{ text: "remember" }] });
    });
  });

  const v1 = `#!/usr/bin/env node
    import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
    import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
    import { z } from "zod";
    const server = new McpServer({ name: "adder", version: "1.2.3" });
    server.registerTool("add", { description: "Adds", inputSchema: { a: z.number(), b: z.number() } }, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
    await server.connect(new StdioServerTransport());`;
  const v2 = v1
    .replace("@modelcontextprotocol/sdk/server/mcp.js", "@modelcontextprotocol/server")
    .replace("@modelcontextprotocol/sdk/server/stdio.js", "@modelcontextprotocol/server/stdio")
    .replace(/\{ a: z\.number\(\), b: z\.number\(\) \}/, "z.object($&)");
  it.each([
    ["1", "stdio.mjs", v1, process.execPath],
    ["2", "stdio.mjs", v2, process.execPath],
    ["1, in TypeScript", "main.ts", v1.replace("({ a, b })", "({ a, b }: { a: number; b: number })"), node24],
  ])("of a server of the official SDK, version %s", async (_version, name, source, node) => {
    if (!existsSync(node)) return console.log(`${name} is not tested: run \`npm run runtimes\``);
    using folder = new PublishFolder(MANIFEST, { [name]: source }).install(peers);
    const { bundle, document } = await publishBundle(folder, "--", node, name, "--verbose");
    expect(document["packages"]).toMatchObject([
      { packageArguments: [{ type: "positional", value: "--verbose" }] },
      {},
    ]);
    await useBundle(bundle, {}, async (client, manifest) => {
      expect(manifest["server"]).toMatchObject({
        mcp_config: { args: ["${__dirname}/server/index.mjs", "--verbose"] },
      });
      expect(textIn(await client.callTool("add", { a: 2, b: 3 }))).toBe("5");
    });
  });

  it("of a package that is not on npm has its module as entry", async () => {
    using folder = new PublishFolder(
      { ...MANIFEST, bin: undefined, private: true, main: "server.ts" },
      { "server.ts": SERVER },
    );
    folder.install(join(root, "node_modules"));
    const url = RELEASE.replace("{version}", "1.2.3");
    const { code, stdout, stderr } = await runParley(["publish", "--mcpb", "--mcpb-url", url, "--write"], {
      cwd: folder.path,
    });
    expect(code, stdout + stderr).toBe(0);
    expect(folder.json("server.json")["packages"]).toMatchObject([{ registryType: "mcpb", identifier: url }]);
    await useBundle(join(folder.path, "notes.mcpb"), {}, async (client) =>
      expect(textIn(await client.callTool("write"))).toBe("written"),
    );
  });

  describe("alone", () => {
    const { mcpName: _, ...WITHOUT_NAME } = MANIFEST;
    const PRIVATE = {
      ...WITHOUT_NAME,
      private: true,
      repository: undefined,
      dependencies: { "@parley/mcp": "file:/x.tgz" },
    };
    const publishAlone = async (manifest: object, ...args: string[]) => {
      const folder = new PublishFolder(manifest, { "server.ts": SERVER }).install(join(root, "node_modules"));
      const before = Object.keys(folder.snapshot());
      const { code, stdout, stderr } = await runParley(["publish", "./server.ts", "--mcpb", ...args], {
        cwd: folder.path,
        env: {},
      });
      const created = Object.keys(folder.snapshot()).filter((name) => !before.includes(name));
      return { folder, code, stdout, stderr, created };
    };

    it.each([
      [["--write"], "notes.mcpb"],
      [["-o", "out"], "out/notes.mcpb"],
    ])("is written for a package without any other way to install it: %j", async (args, name) => {
      const { folder, code, stdout, created } = await publishAlone(PRIVATE, ...args);
      using _folder = folder;
      expect({ code, created }, stdout).toEqual({ code: 0, created: [name] });
      expect(stdout).toContain(`created ${name} (`);
      expect(stdout).toContain("note nothing-to-install  ");
      expect(stdout).toContain("server.json is left out: the server has no package and no address");
      expect(stdout).not.toMatch(/(?:create|created) server\.json|mcp-name|name-missing|local-dependency/);
      expect(stdout).toMatch(/\n0 errors, 0 warnings, 2 notes\n$/);
      await useBundle(join(folder.path, name), {}, async (client) =>
        expect(textIn(await client.callTool("write"))).toBe("written"),
      );
    });

    it.each<[string, object, string[], string[]]>([
      ["a missing mcpName", WITHOUT_NAME, [], ["mcp-name-missing"]],
      ["a local dependency", { ...MANIFEST, dependencies: { a: "file:../a" } }, [], ["local-dependency"]],
      ["wanted links", { ...MANIFEST, private: true }, ["--links", "install.md"], ["nothing-to-install"]],
      [
        "a wanted registry",
        { ...MANIFEST, private: true },
        ["--registry", "http://127.0.0.1:1"],
        ["nothing-to-install"],
      ],
      ["a wrong address", WITHOUT_NAME, ["--remote", "https://127.0.0.1/mcp"], ["mcp-name-missing", "remote-invalid"]],
    ])("is written, and %s keeps the other files from it", async (_name, manifest, args, codes) => {
      const { folder, code, stdout, created } = await publishAlone(manifest, "--write", ...args);
      using _folder = folder;
      expect({ code, created }, stdout).toEqual({ code: 5, created: ["notes.mcpb"] });
      for (const one of codes) expect(stdout).toContain(`error ${one}  `);
      expect(stdout).toContain("created notes.mcpb (");
      expect(stdout).toContain("would create server.json\n");
      expect(stdout).toMatch(/; not written: server\.json(?:, [\w.-]+)*: correct the errors first\n$/);
    });

    it("is reported as one of several files to a program", async () => {
      const { folder, stdout } = await publishAlone(WITHOUT_NAME, "--write", "--json");
      using _folder = folder;
      const { written, files, serverJson } = JSON.parse(stdout);
      expect({ written, files }).toMatchObject({
        written: false,
        files: [
          { file: "server.json", written: false },
          { file: "notes.mcpb", written: true },
        ],
      });
      expect(serverJson).toMatchObject({ name: "io.github.ada/notes" });
      const alone = await publishAlone(PRIVATE, "--write", "--json");
      using _alone = alone.folder;
      const output = JSON.parse(alone.stdout);
      expect(output).toMatchObject({ written: true, files: [{ file: "notes.mcpb", written: true }], links: [] });
      expect(output).not.toHaveProperty("serverJson");
    });

    it.each<[string, object, string]>([
      ["no description", { ...PRIVATE, description: undefined }, "description-missing"],
      ["no version", { ...PRIVATE, version: undefined }, "version-missing"],
      ["no author", { ...PRIVATE, author: undefined }, "author-missing"],
    ])("is not written with %s, which its manifest needs", async (_name, manifest, finding) => {
      const { folder, code, stdout, created } = await publishAlone(manifest, "--write");
      using _folder = folder;
      expect({ code, created }, stdout).toEqual({ code: 5, created: [] });
      expect(stdout).toContain(`error ${finding}  `);
      expect(stdout).toContain("; nothing was written: correct the errors first\n");
    });
  });

  it.each([
    ["LICENSE.md", []],
    ["COPYING", [{ code: "license-missing", severity: "note", place: "LICENSE" }]],
  ])("has a license, or a note says that it has none: %s", async (name, expected) => {
    using folder = new PublishFolder(MANIFEST, { "server.ts": SERVER, [name]: "MIT\n" }).install(
      join(root, "node_modules"),
    );
    rmSync(join(folder.path, "LICENSE"));
    const { code, stdout } = await runParley(["publish", "./server.ts", "--mcpb", "--json"], { cwd: folder.path });
    const { findings, mcpb: bundle } = JSON.parse(stdout);
    expect({ code, findings }).toMatchObject({ code: 0, findings: expected });
    expect(bundle.files.some((file: { name: string }) => file.name === name)).toBe(expected.length === 0);
  });

  it("works where optional packages are not installed", async () => {
    using folder = new PublishFolder(MANIFEST, { "server.ts": SERVER });
    // The library alone, without `ws` and `@opentelemetry/api`, which it loads if they are there.
    mkdirSync(join(folder.path, "node_modules/@parley/mcp"), { recursive: true });
    for (const part of ["package.json", "dist"])
      cpSync(join(root, "packages/mcp", part), join(folder.path, "node_modules/@parley/mcp", part), {
        recursive: true,
      });
    const names = ["@standard-schema/spec", "cross-spawn", "eventsource-parser", "jose", "oauth4webapi"];
    for (const name of [...names, "which", "path-key", "shebang-command", "shebang-regex", "isexe"]) {
      mkdirSync(join(folder.path, "node_modules", name, ".."), { recursive: true });
      cpSync(join(root, "node_modules", name), join(folder.path, "node_modules", name), { recursive: true });
    }
    const { bundle } = await publishBundle(folder, "./server.ts");
    await useBundle(bundle, {}, async (client) => expect(textIn(await client.callTool("write"))).toBe("written"));
  });
});

const SERVER = `import { Server } from "@parley/mcp";
export const server = new Server({ name: "notes", version: "1.2.3" }).tool("write", () => "written")`;

describe.skipIf(!isReady)("a bundle that would not work", () => {
  const withTool = (code: string) => `${SERVER}.tool("other", async () => { ${code} });`;
  const fails = async (folder: PublishFolder, ...args: string[]) => {
    const before = folder.snapshot();
    const { stdout, stderr, code } = await runParley(
      ["publish", "./server.ts", "--mcpb", "--write", "--json", ...args],
      { cwd: folder.path },
    );
    expect(code, stdout + stderr).toBe(5);
    expect(folder.snapshot()).toEqual(before);
    const { findings } = JSON.parse(stdout) as {
      findings: { code: string; place: string; message: string; severity: string }[];
    };
    return findings;
  };

  it.each<[string, string, Record<string, string>, object]>([
    [
      "a compiled addon",
      withTool('await import("./addon.cjs");'),
      { "addon.cjs": 'require("./build/addon.node")', "build/addon.node": "\x7fELF" },
      { code: "bundle-native-addon", place: "build/addon.node" },
    ],
    [
      "a package that is not installed",
      withTool('await import("not-installed");'),
      {},
      { code: "bundle-unresolved", place: "server.ts" },
    ],
    [
      "a file that is missing",
      withTool('await import("./missing.js");'),
      {},
      { code: "bundle-failed", place: "server.ts" },
    ],
    [
      "a file of an unknown kind",
      withTool('await import("./page.html");'),
      { "page.html": "<b>" },
      { code: "bundle-failed", place: "server.ts" },
    ],
    [
      "code that needs its place",
      `if (!import.meta.url.endsWith("server.ts")) throw new Error("moved");\n${SERVER}`,
      {},
      { code: "bundle-broken", place: "server/index.mjs" },
    ],
  ])("is reported: %s", async (_name, source, files, expected) => {
    using folder = new PublishFolder(MANIFEST, { "server.ts": source, ...files }).install(join(root, "node_modules"));
    expect(await fails(folder)).toMatchObject([{ severity: "error", ...expected }]);
  });

  it("is reported: a package that compiles an addon", async () => {
    using folder = new PublishFolder(MANIFEST, { "server.ts": withTool('await import("native-thing");') });
    mkdirSync(join(folder.path, "node_modules/@parley"), { recursive: true });
    symlinkSync(join(root, "packages/mcp"), join(folder.path, "node_modules/@parley/mcp"), "dir");
    folder.write("node_modules/native-thing/package.json", '{ "name": "native-thing", "main": "index.js" }');
    folder.write("node_modules/native-thing/index.js", 'module.exports = () => require("bindings")("thing");');
    folder.write("node_modules/native-thing/binding.gyp", "{}");
    expect(await fails(folder)).toMatchObject([{ code: "bundle-native-addon", place: "node_modules/native-thing" }]);
  });

  it.each<[string, object, string[], string]>([
    ["no author", { ...MANIFEST, author: undefined }, [], "author-missing"],
    ["an icon that is no picture", MANIFEST, ["--icon", "server.ts"], "icon-not-png"],
    ["an icon that is missing", MANIFEST, ["--icon", "none.png"], "icon-not-png"],
  ])("is reported: %s", async (_name, manifest, args, code) => {
    using folder = new PublishFolder(manifest, { "server.ts": SERVER }).install(join(root, "node_modules"));
    expect(await fails(folder, ...args)).toMatchObject([{ code, severity: "error" }]);
  });

  it("takes no icon from outside of the project", async () => {
    using folder = new PublishFolder(
      { ...MANIFEST, parley: { publish: { icon: "../../../etc/passwd" } } },
      { "server.ts": SERVER },
    ).install(join(root, "node_modules"));
    const { code, stderr } = await runParley(["publish", "./server.ts", "--mcpb", "--write"], { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain("the icon ../../../etc/passwd is outside of the project");
  });

  it("warns of files beside a module", async () => {
    const source = `import { readFileSync } from "node:fs";\n// new URL("./a.txt", import.meta.url)\n${withTool('return readFileSync(new URL("./a.txt", import.meta.url), "utf8");')}`;
    using folder = new PublishFolder(MANIFEST, { "server.ts": source, "a.txt": "a" }).install(
      join(root, "node_modules"),
    );
    const { stdout, code } = await runParley(["publish", "./server.ts", "--mcpb", "--json"], { cwd: folder.path });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).findings).toMatchObject([
      { code: "bundle-file-reference", place: "server.ts:4", severity: "warning" },
    ]);
  });

  it("is not built without the bundler, and says how to install it", async () => {
    using folder = new PublishFolder(MANIFEST, { "server.ts": SERVER });
    // A copy of the command line with its own packages only.
    const modules = join(folder.path, "installed/node_modules");
    for (const part of ["bin", "dist", "package.json"])
      cpSync(join(root, "packages/cli", part), join(modules, "@parley/cli", part), { recursive: true });
    const { dependencies } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as {
      dependencies: object;
    };
    for (const name of Object.keys(dependencies)) {
      const own = join(root, "packages/cli/node_modules", name);
      mkdirSync(join(modules, name, ".."), { recursive: true });
      symlinkSync(existsSync(own) ? own : join(root, "node_modules", name), join(modules, name), "dir");
    }
    mkdirSync(join(folder.path, "node_modules/@parley"), { recursive: true });
    symlinkSync(join(root, "packages/mcp"), join(folder.path, "node_modules/@parley/mcp"), "dir");
    const run = () =>
      execFileSync(process.execPath, [join(modules, "@parley/cli/bin/parley.js"), "publish", "./server.ts", "--mcpb"], {
        cwd: folder.path,
        stdio: "pipe",
      });
    expect(run).toThrow(/the bundler rolldown is not installed\nfix: {3}Run `npm install --save-dev rolldown`\./);
  });
});
