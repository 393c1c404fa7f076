import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { ModuleFolder } from "../run/module-folder.js";

describe("a target that cannot be meant", () => {
  it.each([
    ["localhost:3000", /"localhost:3000" is not a URL\nfix: {3}Write it in full: http:\/\/localhost:3000\n/],
    ["127.0.0.1:3000/mcp", /fix: {3}Write it in full: http:\/\/127\.0\.0\.1:3000\/mcp\n/],
    ["example.com/mcp", /fix: {3}Write it in full: http:\/\/example\.com\/mcp\n/],
    ["ftp://example.com/", /is no address that this program speaks to/],
    ["./", /\.\/ is no module\nfix: {3}Name a file that ends in \.ts/],
    ["package.json", /package\.json is no module/],
    ["absent", /there is no server "absent" in the files of the known applications/],
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
    expect(stderr).toMatch(/^error: .*main\.ts:1:\d+: syntax error.*\nfix: {3}Correct the syntax\.\n$/);
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

describe("an option for another kind of target", () => {
  it.each([
    [["--env", "A=1", "http://127.0.0.1:1/mcp"], "--env is for a program, and http://127.0.0.1:1/mcp is none"],
    [["--cwd", ".", "http://127.0.0.1:1/mcp"], "--cwd is for a program"],
    [["--header", "A: 1", "main.ts"], "--header is for a server at a URL, and main.ts is none"],
    [["--header", "A: 1", "--", "node"], "--header is for a server at a URL, and node is none"],
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
