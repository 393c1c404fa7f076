import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleParley } from "../kit/bundle-parley.js";
import { runParley } from "../kit/run-parley.js";
import { noScreen, Screen } from "../kit/screen.js";
import { ModuleFolder } from "../run/module-folder.js";

/** A program that says what it got, and ends. */
const ECHO = `const { KEY } = process.env;
console.error(KEY.length === 10 ? "KEY is 10 characters" : "KEY is " + KEY);
process.exit(1)`;

describe("a target that cannot be meant", () => {
  it.each([
    ["localhost:3000", /"localhost:3000" is not a URL\nfix: {3}Write it in full: http:\/\/localhost:3000\n/],
    ["127.0.0.1:3000/mcp", /fix: {3}Write it in full: http:\/\/127\.0\.0\.1:3000\/mcp\n/],
    ["example.com/mcp", /fix: {3}Write it in full: http:\/\/example\.com\/mcp\n/],
    ["ftp://example.com/", /is not an HTTP URL/],
    ["./", /\.\/ is not a module\nfix: {3}Name a file that ends in \.ts/],
    ["package.json", /package\.json is not a module/],
    ["absent", /no server "absent" in the configuration files of known applications/],
  ])("is told apart from a name: %s", async (target, expected) => {
    using folder = new ModuleFolder();
    const { code, stderr } = await runParley(["ping", target], { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toMatch(expected);
  });

  it("is a file of servers that is no JSON, which is named", async () => {
    using folder = new ModuleFolder({ "broken.json": "{ broken" });
    const { code, stderr } = await runParley(["ping", "x", "--config", "broken.json"], { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain(`error: ${join(folder.path, "broken.json")}: `);
  });
});

describe("a target that is no server", () => {
  it("was not reached: a module that cannot be loaded", async () => {
    using folder = new ModuleFolder({ "main.ts": "export const x = " });
    const { code, stderr } = await runParley(["ping", "main.ts"], { cwd: folder.path });
    expect(code).toBe(3);
    expect(stderr).toMatch(/^error: .*main\.ts:1:\d+: syntax error.*\n.*\n *\^\nfix: {3}Correct the syntax\.\n$/);
  });

  it("was not reached: a page for people", async () => {
    const pages = createServer((_request, response) => {
      response.setHeader("content-type", "text/html").end("<h1>Hello</h1>");
    });
    await once(pages.listen(0, "127.0.0.1"), "listening");
    // Safe: it listens on a port, not on a path.
    const { port } = pages.address() as AddressInfo;
    try {
      const { code, stderr } = await runParley(["ping", `http://127.0.0.1:${port}/`]);
      expect(code).toBe(3);
      expect(stderr).toContain("text/html, which is neither JSON nor an event stream\nfix:   Check that the address");
    } finally {
      pages.close();
    }
  });
});

describe("an input of a configuration", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of a configuration
  const entry = { command: process.execPath, args: ["-e", ECHO], env: { KEY: "${input:key}" } };
  const config = (more: object = {}) =>
    JSON.stringify({ inputs: [{ id: "key", type: "promptString", ...more }], servers: { one: entry } });

  it("is given on the command line, and named where it is not", async () => {
    using folder = new ModuleFolder({ ".vscode/mcp.json": config() });
    const refused = await runParley(["ping", "one"], { cwd: folder.path });
    expect(refused.stderr).toContain('the input "key" has no value\nfix:   Pass --input name=value.\n');
    expect(refused.code).toBe(2);
    const given = await runParley(["ping", "one", "--input", "key=given"], { cwd: folder.path });
    expect(given.stderr).toContain("KEY is given");
    const wrong = await runParley(["ping", "one", "--input", "key"], { cwd: folder.path });
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("an --input is not of the form NAME=value"),
    });
    const typo = await runParley(["ping", "one", "--input", "key=x", "--input", "kye=x"], { cwd: folder.path });
    expect(typo.stderr).toContain('the configuration has no input "kye"\nfix:   Use one of: key.\n');
    expect(typo.code).toBe(2);
  });

  it("takes its default where none is given", async () => {
    using folder = new ModuleFolder({ ".vscode/mcp.json": config({ default: "usual" }) });
    expect((await runParley(["ping", "one"], { cwd: folder.path })).stderr).toContain("KEY is usual");
  });

  it.skipIf(noScreen !== undefined)("is asked for on a terminal, and a password is not shown", async () => {
    const declared = { description: "The key of the shop", password: true };
    using folder = new ModuleFolder({ ".vscode/mcp.json": config(declared) });
    const env = { HOME: folder.path, PARLEY_HOME: folder.path, PATH: process.env["PATH"] ?? "" };
    await using screen = new Screen([process.execPath, await bundleParley(), "ping", "one"], { cwd: folder.path, env });
    await screen.shows("The key of the shop");
    screen.type("opensesame");
    screen.press("Enter");
    const shown = await screen.shows("KEY is 10 characters");
    expect(shown).not.toContain("opensesame");
  });
});

describe("nothing in place of a target", () => {
  it("is answered with the configured names", async () => {
    using folder = new ModuleFolder({
      ".mcp.json": '{"mcpServers": {"notes": {"command": "x"}, "shop": {"command": "y"}}}',
    });
    const { code, stderr } = await runParley(["list"], { cwd: folder.path });
    expect(stderr).toMatch(
      /^error: which server\?\nfix: {3}Use a URL, .* the name of a configured server: notes, shop\.\n$/,
    );
    expect(code).toBe(2);
  });
});

describe("an option for another kind of target", () => {
  it.each([
    [
      ["--env", "A=1", "http://127.0.0.1:1/mcp"],
      "--env works only with a program, and http://127.0.0.1:1/mcp is not one",
    ],
    [["--cwd", ".", "http://127.0.0.1:1/mcp"], "--cwd works only with a program"],
    [["--header", "A: 1", "main.ts"], "--header works only with a server at a URL, and main.ts is not one"],
    [["--header", "A: 1", "--", "node"], "--header works only with a server at a URL, and node is not one"],
    [["--input", "a=1", "main.ts"], "--input works only with a server of a configuration file"],
    [["--input", "a=1", "http://127.0.0.1:1/mcp"], "--input works only with a server of a configuration file"],
    [["--input", "a=1", "--", "node"], "--input works only with a server of a configuration file"],
    [["--client-id", "a", "http://127.0.0.1:1/mcp"], "--client-id works only with --grant"],
    [["--client-secret-env", "A", "main.ts"], "--client-secret-env works only with --grant"],
  ])("is refused: %s", async (words, expected) => {
    using folder = new ModuleFolder({ "main.ts": "" });
    const { code, stderr } = await runParley(["ping", ...words], { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });

  it("is taken by a configured program", async () => {
    using folder = new ModuleFolder({ "inner/x": "" });
    const command = {
      command: process.execPath,
      args: ["-e", "console.error(process.cwd(), process.env.A); process.exit(1)"],
    };
    writeFileSync(join(folder.path, "servers.json"), JSON.stringify({ mcpServers: { one: command } }));
    const words = ["ping", "one", "--config", "servers.json", "--cwd", "inner", "--env", "A=given"];
    const { code, stderr } = await runParley(words, { cwd: folder.path });
    expect(code).toBe(3);
    expect(stderr).toContain(`${join(folder.path, "inner")} given`);
  });
});
