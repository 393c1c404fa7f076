import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { server as fixture } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";

function shop(description: string): Server {
  const server = new Server({ name: "shop", version: "1.0.0" }, { instructions: "Look before you buy." });
  server.tool("buy", { description, annotations: { destructiveHint: false } }, () => "bought");
  return server;
}

describe("parley lock", () => {
  let folder = "";
  let server = shop("");
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  let other: Awaited<ReturnType<typeof serveHttp>>;
  const run = (...args: string[]) => runParley(["lock", ...args], { cwd: folder });
  const file = () => readFileSync(join(folder, "mcp.lock.json"), "utf8");

  beforeAll(async () => {
    server = shop("Buys goods");
    handle = await serveHttp(server, { port: 0 });
    other = await serveHttp(fixture, { port: 0 });
  });
  afterAll(async () => {
    await handle.close();
    await other.close();
  });
  beforeEach(() => {
    if (folder !== "") rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), "parley-lock-"));
    change("Buys goods");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function change(description: string): void {
    server.remove("tool", "buy");
    server.tool("buy", { description, annotations: { destructiveHint: false } }, () => "bought");
  }

  it("pins a server, and is content as long as nothing changes", async () => {
    const first = await run(handle.url);
    expect(first).toMatchObject({ code: 0, stdout: "pinned shop in mcp.lock.json: 1 tool\n" });
    const text = file();
    expect(await run(handle.url)).toMatchObject({ code: 0, stdout: "unchanged shop: 1 tool as pinned\n" });
    expect(await run(handle.url, "--check")).toMatchObject({ code: 0 });
    expect(file()).toBe(text);
    expect(readdirSync(folder)).toEqual(["mcp.lock.json"]);
  });

  it("fails with a difference if a tool changed, with hidden characters spelled, and keeps the file", async () => {
    await run(handle.url);
    const text = file();
    change("Buys goods.\u200b\u001b[2J");
    for (const args of [[handle.url, "--check"], [handle.url]]) {
      const { code, stdout, stderr } = await run(...args);
      expect(code).toBe(5);
      expect(stdout).toBe(
        [
          "changed shop, compared with mcp.lock.json",
          '  changed tool "buy"',
          "    description",
          "      - Buys goods",
          "      + Buys goods.<U+200B><U+001B>[2J",
          "",
        ].join("\n"),
      );
      expect(stderr).toContain("--update");
    }
    expect(file()).toBe(text);
  });

  it("approves with --update, showing what it approves", async () => {
    await run(handle.url);
    change("Sells goods");
    const { code, stdout } = await run(handle.url, "--update");
    expect(code).toBe(0);
    expect(stdout).toContain("updated shop in mcp.lock.json: 1 tool");
    expect(stdout).toContain("+ Sells goods");
    expect(await run(handle.url, "--check")).toMatchObject({ code: 0 });
  });

  it("gives programs the same", async () => {
    await run(handle.url);
    change("Sells goods");
    const { code, stdout } = await run(handle.url, "--check", "--json");
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      file: "mcp.lock.json",
      servers: {
        shop: {
          state: "drift",
          counts: { tools: 1, prompts: 0, resourceTemplates: 0 },
          drift: [
            { kind: "tool", name: "buy", change: "changed", fields: [{ path: "description", after: "Sells goods" }] },
          ],
        },
      },
    });
  });

  it("keeps several servers in one file, by name", async () => {
    await run(handle.url);
    await run(other.url, "--name", "second");
    expect(Object.keys(JSON.parse(file()).servers)).toEqual(["second", "shop"]);
    expect(await run(other.url, "--check", "--name", "second")).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await run(other.url, "--check");
    expect(code).toBe(5);
    expect(stdout).toContain("not pinned fixture");
    expect(stderr).toContain("second, shop");
  });

  it("locks and checks every server of a configuration, also when one cannot be reached", async () => {
    const mcpServers = { mine: { url: handle.url }, other: { url: other.url }, off: { command: "x", disabled: true } };
    writeFileSync(join(folder, "servers.json"), JSON.stringify({ mcpServers }));
    expect(await run("--all", "--config", "servers.json")).toMatchObject({ code: 0 });
    expect(Object.keys(JSON.parse(file()).servers)).toEqual(["mine", "other"]);
    change("Sells goods");
    const broken = { ...mcpServers, gone: { url: "http://127.0.0.1:1/mcp" } };
    writeFileSync(join(folder, "servers.json"), JSON.stringify({ mcpServers: broken }));
    const { code, stdout } = await run("--all", "--config", "servers.json", "--check");
    expect(code).toBe(5);
    expect(stdout).toContain("changed mine");
    expect(stdout).toContain("unchanged other");
    expect(stdout).toContain("failed gone");
    expect(await run("mine", "--config", "servers.json", "--update")).toMatchObject({ code: 0 });
    expect(await run("--all", "--config", "servers.json", "--check")).toMatchObject({ code: 3 });
  });

  it("refuses a file that was changed by hand, is of another version or no lock", async () => {
    await run(handle.url);
    for (const [text, cause] of [
      [file().replace("Buys goods", "Gives goods"), "does not match its digest"],
      [file().replace('"lockfileVersion": 1', '"lockfileVersion": 7'), "it has version 7"],
      ["{", "it is not JSON"],
    ] as const) {
      writeFileSync(join(folder, "mcp.lock.json"), text);
      const { code, stderr } = await run(handle.url, "--check");
      expect(code).toBe(2);
      expect(stderr).toContain(cause);
      expect(stderr).toMatch(/^fix: /m);
    }
  });

  it.each([
    [["--check"], "mcp.lock.json does not exist", 2],
    [["--check", "--update"], "cannot be combined", 2],
    [["extra"], 'unexpected argument "extra"', 2],
    [["--all"], "cannot be combined with a target or --name", 2],
    [["-o", "no/such/folder/x.json"], "cannot be written", 2],
  ])("%j fails with its cause and a fix", async (args, cause, expected) => {
    const { code, stderr } = await run(handle.url, ...args);
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(expected);
    expect(existsSync(join(folder, "mcp.lock.json"))).toBe(false);
  });
});
