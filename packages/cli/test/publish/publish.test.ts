import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkServerJson } from "../../src/publish/server-json-rules.js";
import { runParley } from "../kit/run-parley.js";
import { MANIFEST, PublishFolder } from "./publish-folder.js";

const { mcpName: _, ...WITHOUT_NAME } = MANIFEST;

describe("parley publish", () => {
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  const run = (folder: PublishFolder, ...args: string[]) =>
    runParley(["publish", handle.url, ...args], { cwd: folder.path, env: { TOKEN: "t-0123456789" } });
  const codesOf = async (folder: PublishFolder, ...args: string[]) => {
    const { stdout, code } = await run(folder, "--json", ...args);
    const { findings } = JSON.parse(stdout) as { findings: { code: string }[] };
    return { code, codes: findings.map((finding) => finding.code) };
  };

  beforeAll(async () => {
    const info = { name: "notes", title: "Notes", version: "1.2.3", websiteUrl: "https://example.com/notes" };
    handle = await serveHttp(
      new Server(info).tool("write", { description: "Writes" }, () => "written"),
      { port: 0 },
    );
  });
  afterAll(() => handle.close());

  it("shows the files and the links, and writes nothing", async () => {
    using folder = new PublishFolder();
    const before = folder.snapshot();
    const { code, stdout, stderr } = await run(folder, "--remote", "https://example.com/mcp", "--links", "install.md");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    for (const name of ["server.json", "server-card.json", "install.md"])
      expect(stdout).toContain(`would create ${name}\n`);
    expect(stdout).toContain('"name": "io.github.ada/notes"');
    expect(stdout).toContain("claude mcp add --transport stdio notes -- npx -y @ada/notes@1.2.3\n");
    expect(stdout).toMatch(/0 errors, 0 warnings, 0 notes; nothing was written: add --write\n$/);
    expect(folder.snapshot()).toEqual(before);
  });

  it("writes a document that passes the registry's rules, and the same again", async () => {
    using folder = new PublishFolder();
    const args = ["--write", "--env", "PLACE", "--env", "API_KEY", "--remote", "https://example.com/mcp"];
    expect(await run(folder, ...args)).toMatchObject({ code: 0 });
    const document = folder.json("server.json");
    expect(checkServerJson(document)).toEqual([]);
    expect(document).toEqual({
      $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
      name: "io.github.ada/notes",
      title: "Notes",
      description: "Keeps notes",
      version: "1.2.3",
      websiteUrl: "https://example.com/notes",
      repository: { url: "https://github.com/ada/notes", source: "github" },
      packages: [
        {
          registryType: "npm",
          identifier: "@ada/notes",
          version: "1.2.3",
          transport: { type: "stdio" },
          environmentVariables: [
            { name: "PLACE", isRequired: true },
            { name: "API_KEY", isRequired: true, isSecret: true },
          ],
        },
      ],
      remotes: [{ type: "streamable-http", url: "https://example.com/mcp" }],
    });
    expect(folder.json("server-card.json")).toMatchObject({
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      name: "io.github.ada/notes",
      remotes: document["remotes"],
    });
    expect(folder.json("server-card.json")).not.toHaveProperty("packages");
    const written = folder.snapshot();
    const again = await run(folder, ...args);
    expect(again.stdout).toContain("unchanged server.json\nunchanged server-card.json\n");
    expect(folder.snapshot()).toEqual(written);
  });

  it("keeps what it does not decide in an existing server.json, and shows what changes", async () => {
    const existing = {
      $schema: "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json",
      name: "io.github.ada/notes",
      description: "Short on purpose",
      version: "1.0.0",
      "com.example/own": { a: 1 },
      packages: [
        { registryType: "oci", identifier: "docker.io/ada/notes:1.0.0", transport: { type: "stdio" } },
        {
          registryType: "npm",
          identifier: "@ada/notes",
          version: "1.0.0",
          runtimeHint: "npx",
          transport: { type: "stdio" },
          environmentVariables: [{ name: "PLACE", description: "Where notes are", isRequired: false }],
        },
      ],
    };
    using folder = new PublishFolder(MANIFEST, { "server.json": JSON.stringify(existing, undefined, 2) });
    const dry = await run(folder, "--env", "KEY");
    expect(dry.stdout).toContain("would replace server.json\n");
    expect(dry.stdout).toMatch(/- +"version": "1\.0\.0",\n/);
    expect(dry.stdout).toMatch(/\+ +"version": "1\.2\.3",\n/);
    const { code, stdout } = await run(folder, "--env", "KEY", "--write");
    expect(code).toBe(0);
    expect(stdout).toContain("replaced server.json\n");
    const [image, npm] = existing.packages;
    expect(folder.json("server.json")).toEqual({
      ...existing,
      $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
      title: "Notes",
      version: "1.2.3",
      websiteUrl: "https://example.com/notes",
      repository: { url: "https://github.com/ada/notes", source: "github" },
      packages: [
        image,
        {
          ...npm,
          version: "1.2.3",
          environmentVariables: [...(npm?.environmentVariables ?? []), { name: "KEY", isRequired: true }],
        },
      ],
    });
  });

  it.each<[string, object, string[]]>([
    ["a missing mcpName", WITHOUT_NAME, ["mcp-name-missing"]],
    ["no name at all", { ...WITHOUT_NAME, repository: undefined }, ["name-missing", "repository-unknown"]],
    [
      "a repository elsewhere",
      { ...WITHOUT_NAME, repository: "https://example.com/x.git" },
      ["name-missing", "repository-unknown"],
    ],
    ["a wrong name", { ...MANIFEST, mcpName: "notes" }, ["name-invalid"]],
    ["a name with markup", { ...MANIFEST, mcpName: "io.github.ada/<img src=x>" }, ["name-invalid"]],
    ["a long description", { ...MANIFEST, description: "a".repeat(101) }, ["description-length"]],
    ["no description", { ...MANIFEST, description: undefined }, ["description-missing"]],
    ["another version than the server's", { ...MANIFEST, version: "1.2.4" }, ["version-differs"]],
    ["a range as version", { ...MANIFEST, version: "^1.2.3" }, ["version-differs", "version-range", "version-range"]],
    ["no version", { ...MANIFEST, version: undefined }, ["version-missing", "package-version-missing"]],
    ["no program", { ...MANIFEST, bin: undefined }, ["package-without-bin"]],
    ["a private package", { ...MANIFEST, private: true }, ["nothing-to-install"]],
  ])("reports %s", async (_name, manifest, expected) => {
    using folder = new PublishFolder(manifest);
    const before = folder.snapshot();
    const { code, codes } = await codesOf(folder, "--write");
    expect(codes.sort()).toEqual([...expected].sort());
    expect(code).toBe(expected[0] === "version-differs" && expected.length === 1 ? 0 : 5);
    // Errors stop every file from being written.
    if (code === 5) expect(folder.snapshot()).toEqual(before);
  });

  const local = (...specs: string[]) => Object.fromEntries(specs.map((spec, index) => [`part-${index}`, spec]));
  const PATHS = ["file:/home/ada/part.tgz", "link:../part", "../part", "~/part", "C:\\part", "part-1.0.0.tgz"];
  it.each<[string, object, number]>([
    ["dependencies", { dependencies: local(...PATHS) }, PATHS.length],
    ["optional dependencies", { optionalDependencies: local("file:../part") }, 1],
    ["peer dependencies", { peerDependencies: local("file:../part") }, 1],
  ])("reports %s that exist on this computer only", async (_name, members, count) => {
    using folder = new PublishFolder({ ...MANIFEST, ...members });
    const before = folder.snapshot();
    const { code, codes } = await codesOf(folder, "--links", "install.md", "--write");
    expect({ code, codes }).toEqual({ code: 5, codes: Array(count).fill("local-dependency") });
    expect(folder.snapshot()).toEqual(before);
  });

  it.each<[string, object, string[]]>([
    [
      "other dependencies",
      { dependencies: local("^1.0.0", "~1.2", "latest", "npm:a@1", "github:a/b", "a/b", "*") },
      [],
    ],
    ["addresses", { dependencies: local("https://example.com/part.tgz", "git+ssh://git@example.com/a/b.git") }, []],
    ["development dependencies", { devDependencies: local("file:../part") }, []],
    [
      "optional peers",
      { peerDependencies: local("link:../part"), peerDependenciesMeta: { "part-0": { optional: true } } },
      [],
    ],
    ["dependencies of a wrong type", { dependencies: [1], peerDependencies: { a: 1 } }, []],
    [
      "a package that is not on npm",
      { private: true, dependencies: local("file:../part") },
      ["--remote", "https://example.com/mcp"],
    ],
  ])("accepts %s", async (_name, members, args) => {
    using folder = new PublishFolder({ ...MANIFEST, ...members });
    expect(await codesOf(folder, ...args)).toEqual({ code: 0, codes: [] });
  });

  it("reports a program that a shell cannot start", async () => {
    using folder = new PublishFolder(
      { ...MANIFEST, bin: { other: "other.mjs", notes: "stdio.mjs" } },
      { "stdio.mjs": "export {}" },
    );
    expect(await codesOf(folder)).toEqual({ code: 5, codes: ["bin-without-shebang"] });
  });

  it("reports the files that it has written before a registry that does not answer", async () => {
    using folder = new PublishFolder();
    const { code, stdout, stderr } = await run(folder, "--write", "--registry", "http://127.0.0.1:1");
    expect(code).toBe(3);
    expect(stdout).toContain("created server.json\n");
    expect(stdout).not.toContain("sent");
    expect(stderr).toContain("did not answer");
  });

  it("says which line package.json needs", async () => {
    using folder = new PublishFolder({
      ...WITHOUT_NAME,
      repository: { type: "git", url: "git+ssh://git@github.com/ada/tools.git", directory: "packages/notes" },
    });
    const { stdout } = await run(folder);
    expect(stdout).toContain('"mcpName": "io.github.ada/notes",\n');
    expect(stdout).toContain('"subfolder": "packages/notes"');
    expect(stdout).toContain("nothing was written: correct the errors first\n");
  });

  it("compares the names of package.json and server.json", async () => {
    using folder = new PublishFolder(MANIFEST, { "server.json": '{ "name": "io.github.ada/other" }' });
    expect(await codesOf(folder)).toEqual({ code: 5, codes: ["mcp-name-differs"] });
  });

  it.each([
    ['{ "packages": ["x"] }', "server.json packages[0]"],
    ['{ "remotes": {} }', "server.json remotes"],
    [
      '{ "packages": [{ "environmentVariables": [{ "name": 1 }] }] }',
      "server.json packages[0].environmentVariables[0].name",
    ],
  ])("reports wrong types in an existing server.json: %s", async (text, place) => {
    using folder = new PublishFolder(MANIFEST, { "server.json": text });
    const { code, stdout } = await run(folder, "--json", "--write");
    expect(code).toBe(5);
    expect(JSON.parse(stdout).findings).toMatchObject([{ code: "member-invalid", place }]);
    expect(folder.read("server.json")).toBe(text);
  });

  it("fails for warnings with --strict, and writes nothing then", async () => {
    using folder = new PublishFolder({ ...MANIFEST, version: "2.0.0" });
    const before = folder.snapshot();
    expect(await codesOf(folder, "--strict", "--write")).toEqual({ code: 5, codes: ["version-differs"] });
    expect(folder.snapshot()).toEqual(before);
    expect(await codesOf(folder, "--write")).toMatchObject({ code: 0 });
    expect(existsSync(join(folder.path, "server.json"))).toBe(true);
  });

  it("reads settings from package.json", async () => {
    const env = [{ name: "PLACE", description: "Where notes are", default: "." }, "API_KEY"];
    const publish = {
      env,
      remotes: ["https://example.com/mcp"],
      http: "http://127.0.0.1:{PLACE}/mcp",
      mcpbUrl: "https://github.com/ada/notes/releases/download/v{version}/notes.mcpb",
    };
    using folder = new PublishFolder({ ...MANIFEST, parley: { publish } });
    const { stdout } = await run(folder, "--json", "--env", "PLACE");
    const { serverJson, findings } = JSON.parse(stdout);
    expect(findings).toMatchObject([{ code: "mcpb-hash-missing" }]);
    expect(serverJson.packages).toMatchObject([
      {
        transport: { type: "streamable-http", url: "http://127.0.0.1:{PLACE}/mcp" },
        environmentVariables: [env[0], { name: "API_KEY", isRequired: true, isSecret: true }],
      },
      { registryType: "mcpb", identifier: "https://github.com/ada/notes/releases/download/v1.2.3/notes.mcpb" },
    ]);
  });

  it.each<[string, object, Record<string, string>, string[], string]>([
    ["package.json that is no object", [], {}, [], "package.json is not a JSON object"],
    ["server.json that is no JSON", MANIFEST, { "server.json": "{" }, [], "server.json is not valid JSON"],
    ["server.json that is a list", MANIFEST, { "server.json": "[]" }, [], "server.json is not a JSON object"],
    [
      "an unknown setting",
      { ...MANIFEST, parley: { publish: { remote: "x" } } },
      {},
      [],
      "unknown setting parley.publish.remote",
    ],
    [
      "a setting of a wrong type",
      { ...MANIFEST, parley: { publish: { remotes: "x" } } },
      {},
      [],
      "parley.publish.remotes of package.json has the wrong type",
    ],
    ["a variable that is none", MANIFEST, {}, ["--env", "A B"], "the name of an environment variable is invalid"],
    ["--token-env alone", MANIFEST, {}, ["--token-env", "X"], "--token-env works only with --registry"],
    ["links that leave the project", MANIFEST, {}, ["--links", "../install.md"], "is outside of the project"],
    [
      "links in a page without a place",
      MANIFEST,
      { "README.md": "# Notes\n" },
      ["--links", "README.md"],
      "has no place for the links",
    ],
    ["an icon without a bundle", MANIFEST, {}, ["--icon", "icon.png"], "--icon works only with --mcpb"],
    [
      "a bundle of an HTTP server",
      MANIFEST,
      {},
      ["--mcpb", "--http", "http://127.0.0.1:1/mcp"],
      "--mcpb and --http cannot be combined",
    ],
    [
      "a bundle without a program",
      { ...MANIFEST, bin: undefined },
      {},
      ["--mcpb"],
      "--mcpb needs the file that starts the server",
    ],
    [
      "a program that is not built",
      { ...MANIFEST, bin: { notes: "dist/missing.js" } },
      {},
      [],
      "`bin` of package.json names dist/missing.js, which does not exist",
    ],
    ["a program that leaves the project", { ...MANIFEST, bin: "../../x.js" }, {}, [], "is outside of the project"],
  ])("rejects %s", async (_name, manifest, files, args, message) => {
    using folder = new PublishFolder(manifest, files);
    const before = folder.snapshot();
    const { code, stdout, stderr } = await run(folder, "--write", ...args);
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/\nfix: {3}\S/);
    expect(folder.snapshot()).toEqual(before);
  });

  it("needs a package.json, and a server that starts", async () => {
    using folder = new PublishFolder(MANIFEST, {
      "none/x": "",
      "stdio.mjs": 'console.error("no database"); process.exit(1);',
    });
    const none = await runParley(["publish", handle.url], { cwd: join(folder.path, "none") });
    expect(none).toMatchObject({ code: 2 });
    expect(none.stderr).toContain("has no package.json");
    const failed = await runParley(["publish", "--write"], { cwd: folder.path });
    expect(failed).toMatchObject({ code: 3, stdout: "" });
    expect(failed.stderr).toContain("no database");
    expect(existsSync(join(folder.path, "server.json"))).toBe(false);
  });

  it("replaces only its place in a page, also twice", async () => {
    const page = "# Notes\n\n<!-- parley:install -->\nold\n<!-- /parley:install -->\n\nThe end.\n";
    using folder = new PublishFolder(MANIFEST, { "README.md": page });
    for (const _ of [1, 2]) expect(await run(folder, "--links", "README.md", "--write")).toMatchObject({ code: 0 });
    const text = folder.read("README.md");
    expect(text).toMatch(
      /^# Notes\n\n<!-- parley:install -->\n\[!\[Install in Cursor\][\s\S]*\n<!-- \/parley:install -->\n\nThe end\.\n$/,
    );
    expect(text).not.toContain("old");
  });

  it("writes into another folder with --output, and reads the project's server.json", async () => {
    using folder = new PublishFolder(MANIFEST, { "server.json": '{ "own": 1 }' });
    expect(await run(folder, "-o", "out/files")).toMatchObject({ code: 0 });
    expect(folder.json("out/files/server.json")).toMatchObject({ own: 1, name: "io.github.ada/notes" });
    expect(folder.read("server.json")).toBe('{ "own": 1 }');
  });

  it("leaves everything as it was if a file cannot be written", async () => {
    using folder = new PublishFolder(MANIFEST, { "server.json": "{}", "out/file": "" });
    // A folder in place of the last file, and a file in place of a folder.
    mkdirSync(join(folder.path, "server-card.json"));
    const before = folder.snapshot();
    for (const args of [["--write"], ["-o", "out/file/more"]]) {
      const { code, stderr } = await run(folder, "--remote", "https://example.com/mcp", ...args);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain("cannot be written");
      expect(folder.snapshot()).toEqual(before);
    }
    expect(readdirSync(folder.path).sort()).toEqual([
      "LICENSE",
      "out",
      "package.json",
      "server-card.json",
      "server.json",
      "stdio.mjs",
    ]);
  });

  it("follows no symbolic link out of the project", async () => {
    using folder = new PublishFolder({ ...MANIFEST, bin: "linked.mjs" });
    using other = new PublishFolder(MANIFEST, { "secret.mjs": "" });
    symlinkSync(join(other.path, "secret.mjs"), join(folder.path, "linked.mjs"));
    const { code, stderr } = await run(folder);
    expect(code).toBe(2);
    expect(stderr).toContain("is outside of the project");
  });

  describe("with --registry", () => {
    const received: {
      method: string | undefined;
      url: string | undefined;
      token: string | undefined;
      body: unknown;
    }[] = [];
    let answer = { status: 200, body: "{}", location: "" };
    const registry = createServer(async (request: IncomingMessage, response) => {
      const { method, url, headers } = request;
      received.push({ method, url, token: headers.authorization, body: JSON.parse((await text(request)) || "null") });
      response.writeHead(answer.status, {
        "content-type": "application/json",
        ...(answer.location === "" ? {} : { location: answer.location }),
      });
      response.end(answer.body);
    });
    let address = "";
    beforeAll(async () => {
      await new Promise<void>((listening) => registry.listen(0, "127.0.0.1", listening));
      address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    });
    afterAll(() => new Promise((closed) => registry.close(closed)));
    const send = (folder: PublishFolder, ...args: string[]) => {
      received.length = 0;
      return run(folder, "--registry", address, "--token-env", "TOKEN", ...args);
    };

    it("sends the document with the token, and says so", async () => {
      using folder = new PublishFolder();
      answer = { status: 200, body: "{}", location: "" };
      const { code, stdout } = await send(folder);
      expect(code).toBe(0);
      expect(stdout).toContain(`sent server.json to ${address}/v0.1/publish\n`);
      expect(received).toMatchObject([
        {
          method: "POST",
          url: "/v0.1/publish",
          token: "Bearer t-0123456789",
          body: { name: "io.github.ada/notes", version: "1.2.3" },
        },
      ]);
      expect(stdout).not.toContain("t-0123456789");
    });

    it("sends nothing with errors, and nothing without the option", async () => {
      using folder = new PublishFolder(WITHOUT_NAME);
      expect(await send(folder, "--write")).toMatchObject({ code: 5 });
      using other = new PublishFolder();
      received.length = 0;
      expect(await run(other, "--write")).toMatchObject({ code: 0 });
      expect(received).toEqual([]);
    });

    it.each([
      [401, '{ "title": "Unauthorized", "detail": "bad token t-0123456789" }', 4, "Unauthorized; bad token <token>"],
      [
        400,
        '{ "title": "Bad Request", "errors": [{ "message": "duplicate version" }] }',
        1,
        "Bad Request; duplicate version",
      ],
      [500, "\u001b[2J<html>", 1, "\\u001b[2J<html>"],
      [200, "", 0, ""],
    ])("reports the answer %i %s", async (status, body, expected, said) => {
      using folder = new PublishFolder();
      answer = { status, body, location: "" };
      const { code, stderr } = await send(folder);
      expect(code).toBe(expected);
      expect(stderr).toContain(said);
      expect(stderr).not.toContain("t-0123456789");
    });

    it("takes no token to another address", async () => {
      using folder = new PublishFolder();
      answer = { status: 307, body: "", location: `${address}/elsewhere` };
      expect(await send(folder)).toMatchObject({ code: 1 });
      expect(received.map(({ url }) => url)).toEqual(["/v0.1/publish"]);
    });

    it.each([
      "http://example.com",
      "ftp://example.com",
      "example.com",
      "https://user:secret@example.com",
      "https://example.com?x=1",
    ])("rejects the address %s", async (url) => {
      using folder = new PublishFolder();
      const { code, stderr } = await run(folder, "--registry", url);
      expect(code).toBe(2);
      expect(stderr).toContain("is not the HTTPS address of a registry");
    });

    it("rejects a variable without a token, and says if nothing answers", async () => {
      using folder = new PublishFolder();
      expect((await run(folder, "--registry", address, "--token-env", "NONE")).stderr).toContain(
        "the environment variable NONE is not set",
      );
      const { code, stderr } = await run(folder, "--registry", "http://127.0.0.1:1");
      expect(code).toBe(3);
      expect(stderr).toContain("did not answer");
    });
  });
});
