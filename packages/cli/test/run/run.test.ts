import { request } from "node:http";
import { connect } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { server as fixture } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";
import { ModuleFolder } from "./module-folder.js";
import { ServingParley } from "./serving-parley.js";

const MODULE = `
import { Server } from "@parley/mcp";
export const server = new Server({ name: "x", version: "1.0.0" }).tool("which", () => "one");`;

describe("parley run", () => {
  it("serves a module over HTTP on loopback, says where and how to try it, and ends with 0", async () => {
    using folder = new ModuleFolder({ "main.ts": MODULE }).link();
    const command = ["run", "main.ts", "--http", "0", "--path", "tools"];
    const parley = new ServingParley(command, { cwd: folder.path, env: { PATH: "" } });
    const url = await parley.url();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/tools$/);
    expect(parley.stderr).toContain(
      `try: npx @parley/cli inspect ${url}\n     npx @parley/cli call ${url} <tool> name=value\n`,
    );
    expect(parley.stderr).toContain(`add: claude mcp add --transport http x ${url}\n`);
    const client = await connect(url);
    expect(await client.call("which")).toBe("one");
    await client.close();
    expect(await parley.stop()).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("names a module by its whole path if the current folder is the root or far away", async () => {
    using folder = new ModuleFolder({ "main.ts": MODULE, "one/two.txt": "" }).link();
    const path = `${folder.path}/main.ts`;
    for (const [cwd, shown] of [
      ["/", path],
      ["/usr/share/doc/a/b/c/d/e/f", path],
      [folder.path, "main.ts"],
      [`${folder.path}/one`, "../main.ts"],
    ] as const) {
      const parley = new ServingParley(["run", path, "--http", "0"], { cwd });
      await parley.url();
      expect(parley.stderr).toContain(`serving ${shown} at `);
      await parley.stop();
    }
  });

  it("lets a call under way end after a signal", async () => {
    const slow = MODULE.replace('() => "one"', "() => new Promise((done) => { globalThis.endSlowCall = done; })");
    using folder = new ModuleFolder({ "main.ts": slow }).link();
    const parley = new ServingParley(["run", "--http", "main.ts"], {
      cwd: folder.path,
      env: { PARLEY_HTTP_PORT: "0" },
    });
    await using client = await connect(await parley.url());
    const call = client.call("which");
    // What the module leaves there.
    const globals = globalThis as { endSlowCall?: (value: string) => void };
    await expect.poll(() => typeof globals.endSlowCall).toBe("function");
    const stopped = parley.stop();
    globals.endSlowCall?.("late");
    expect(await call).toBe("late");
    expect(await stopped).toBe(0);
  });

  it.each([
    ["parley.config.json", '{ "http": { "port": 0, "path": "/configured" } }'],
    ["parley.config.ts", 'const path: string = "/configured"; export default { http: { port: 0, path } };'],
  ])("takes settings from %s, below the environment, below flags", async (name, text) => {
    using folder = new ModuleFolder({ "main.ts": MODULE, [name]: text }).link();
    const url = async (args: readonly string[], env: Record<string, string>) => {
      const parley = new ServingParley(["run", "main.ts", "--http", ...args], { cwd: folder.path, env });
      const { pathname } = new URL(await parley.url());
      await parley.stop();
      return pathname;
    };
    expect(await url([], { PARLEY_HOME: "/nonexistent" })).toBe("/configured");
    expect(await url([], { PARLEY_HTTP_PATH: "/variable" })).toBe("/variable");
    expect(await url(["--path", "/flag"], { PARLEY_HTTP_PATH: "/variable" })).toBe("/flag");
  });

  it("takes requests for the names of --allow, and for no others", async () => {
    using folder = new ModuleFolder({ "main.ts": MODULE }).link();
    const args = ["run", "main.ts", "--http", "0", "--allow", "example.com", "--allow", "https://app.example"];
    await using parley = new ServingParley([...args, "--allow-unauthenticated"], { cwd: folder.path });
    const url = await parley.url();
    const status = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
        const accept = "application/json, text/event-stream";
        const all = { "content-type": "application/json", accept, ...headers };
        const sent = request(url, { method: "POST", headers: all }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on("error", reject).end(body);
      });
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ host: "example.com" })).not.toBe(403);
    expect(await status({ host: "example.com", origin: "https://evil.example" })).toBe(403);
    expect(await status({ host: "example.com", origin: "https://app.example" })).not.toBe(403);
  });

  it("says that a port is taken", async () => {
    await using taken = await serveHttp(fixture, { port: 0 });
    using folder = new ModuleFolder({ "main.ts": MODULE }).link();
    const { code, stderr } = await runParley(["run", "main.ts", "--http", String(taken.port)], { cwd: folder.path });
    expect(stderr).toMatch(/error: .*EADDRINUSE\nfix: .*choose another/);
    expect(code).toBe(3);
  });

  it.each([
    [["run"], "which module?", 2],
    [["run", "main.ts", "--http", "abc"], '"abc" is not a port', 2],
    [["run", "main.ts", "other.ts"], 'unexpected argument "other.ts"', 2],
    [["run", "none.ts"], "the file none.ts does not exist", 2],
    [["run", "main.ts", "--http", "--stdio"], "cannot be combined", 2],
    [["run", "main.ts", "--stdio", "--path", "/x"], "--path works only with HTTP", 2],
    [["run", "main.ts", "--stdio", "--allow-unauthenticated"], "--allow-unauthenticated works only with HTTP", 2],
    [["run", "main.ts", "--http", "70000"], '"70000" is not a port', 2],
    [["run", "main.ts", "--http", "0", "--host", "0.0.0.0"], "other machines could call", 2],
    [["run", "main.ts", "--http", "0", "--allow", "example.com"], "other machines could call", 2],
    [["run", "broken.ts", "--http", "0"], "broken.ts:1:11: syntax error", 1],
    [["run", "empty.ts", "--http", "0"], "exports no server", 2],
  ])("%j is refused with its cause, a fix and its exit code", async (args, cause, expected) => {
    const files = { "main.ts": MODULE, "broken.ts": "const x = ;", "empty.ts": "export {};" };
    using folder = new ModuleFolder(files).link();
    const { code, stderr, stdout } = await runParley(args, { cwd: folder.path });
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(stdout).toBe("");
    expect(code).toBe(expected);
  });

  it("ends while a module never ends loading", async () => {
    using folder = new ModuleFolder({ "main.ts": "await new Promise(() => {});" });
    const parley = new ServingParley(["run", "main.ts", "--http", "0"], { cwd: folder.path });
    expect(await parley.stop()).toBe(130);
  });
});
