import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { GatewayFolder } from "./gateway-folder.js";
import { ServingParley } from "./serving-parley.js";

/** Runs a gateway whose user's folders are in the folder. */
function start(folder: GatewayFolder, args: readonly string[]): ServingParley {
  const runtime = join(folder.path, "run");
  mkdirSync(runtime, { recursive: true });
  const env = { PATH: process.env["PATH"], XDG_CACHE_HOME: join(folder.path, "cache"), XDG_RUNTIME_DIR: runtime };
  return new ServingParley(["gateway", "--http", "0", ...args], { cwd: folder.path, home: folder.path, env });
}

const toolsAt = async (parley: ServingParley) => {
  await using client = await connect(await parley.url());
  return (await client.allTools()).map(({ name }) => name);
};

describe("parley gateway", () => {
  it("serves all servers of a file as one, says what is wrong with the others, and keeps the catalogue", async () => {
    using folder = new GatewayFolder();
    const file = folder.config({
      one: folder.child("one"),
      two: folder.child("two"),
      gone: { command: "no-such-program" },
      unset: { command: "x", env: { TOKEN: ["$", "{NOT_SET}"].join("") } },
    });
    const parley = start(folder, ["--config", file]);
    await using client = await connect(await parley.url());
    expect(client.serverInfo).toMatchObject({ name: "parley-gateway" });
    const names = (await client.allTools()).map(({ name }) => name);
    expect(names.sort()).toEqual(["one__ask", "one__count", "one__pid", "two__ask", "two__count", "two__pid"]);
    expect(parley.stderr).toMatch(/^ready {6}one: one 1\.0\.0, 2026-07-28, 3 tools$/m);
    expect(parley.stderr).toMatch(/^restarting gone: "no-such-program" was not found\nfix: /m);
    expect(parley.stderr).toMatch(/^disabled .*unset\.env\.TOKEN: the variable NOT_SET is not set\nfix: /m);
    expect(parley.stderr).toMatch(/^serving 3 servers as parley-gateway at http/m);
    expect(parley.stdout).toBe("");
    expect(await parley.stop()).toBe(0);
    const kept = join(folder.path, "cache/parley/catalogues");
    const [cache = ""] = readdirSync(kept);
    expect(statSync(join(kept, cache)).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder.path, "run/parley"))).toEqual([]);
  });

  it("passes questions, progress and tasks on", async () => {
    using folder = new GatewayFolder();
    await using parley = start(folder, ["--config", folder.config({ one: folder.child("one") })]);
    const url = await parley.url();
    for (const revision of ["2025-11-25", "2026-07-28"] as const) {
      await using client = await connect(url, {
        revisions: [revision],
        extensions: [tasks()],
        onElicit: () => ({ action: "accept", content: { sure: true } }),
      });
      const steps: number[] = [];
      const onProgress = ({ progress }: { progress: number }) => void steps.push(progress);
      expect(await client.call("one__ask", {}, { onProgress })).toBe("done");
      expect(steps).toContain(1);
      const task = await client.startTask("one__count");
      expect(await task.result()).toBe("counted");
    }
  });

  it.each([
    ["mcp.json", (child: object) => JSON.stringify({ servers: { one: { type: "stdio", ...child } } })],
    [
      "config.toml",
      (child: { command: string; args: readonly string[] }) =>
        `[mcp_servers.one]\ncommand = ${JSON.stringify(child.command)}\nargs = ${JSON.stringify(child.args)}\n`,
    ],
    ["parley.config.json", (child: object) => JSON.stringify({ servers: { one: child }, http: { path: "/all" } })],
    [
      "settings.ts",
      (child: object) => `const one: object = ${JSON.stringify(child)}; export default { servers: { one } };`,
    ],
  ])("reads %s", async (name, text) => {
    using folder = new GatewayFolder();
    folder.write(`other/${name}`, text(folder.child("one")));
    await using parley = start(folder, ["--config", `other/${name}`]);
    expect(await toolsAt(parley)).toContain("one__pid");
    expect(new URL(await parley.url()).pathname).toBe(name === "parley.config.json" ? "/all" : "/mcp");
  });

  it("reads the usual files of applications, the first of which wins, and starts what is named", async () => {
    using folder = new GatewayFolder();
    folder.config({ one: folder.child("first"), two: folder.child("two") }, ".mcp.json");
    folder.config({ one: folder.child("second"), three: folder.child("three") }, ".cursor/mcp.json");
    const args = ["--from", "claude", "--from", "cursor", "--name", "one", "--name", "three"];
    await using parley = start(folder, args);
    expect(await toolsAt(parley)).toEqual(expect.arrayContaining(["one__pid", "three__pid"]));
    expect(parley.stderr).toContain("serving 2 servers");
    expect(parley.stderr).toContain("ready      one: first 1.0.0");
    expect(parley.stderr).toContain("one: an earlier file has a server with this name");
  });

  it("reads the files of this folder where none is named, and inputs from the command line", async () => {
    using folder = new GatewayFolder();
    folder.config({ one: folder.child("one") }, ".mcp.json");
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of a configuration
    const asking = { ...folder.child("two"), env: { KEY: "${input:key}" } };
    folder.write(
      ".vscode/mcp.json",
      JSON.stringify({ inputs: [{ id: "key", type: "promptString" }], servers: { two: asking } }),
    );
    await using parley = start(folder, []);
    expect(await toolsAt(parley)).toEqual(expect.arrayContaining(["one__pid"]));
    expect(parley.stderr).toContain('the input "key" has no value');
    expect(parley.stderr).toContain("Pass --input name=value.");
    await using other = start(folder, ["--input", "key=k"]);
    expect(await toolsAt(other)).toEqual(expect.arrayContaining(["one__pid", "two__pid"]));
  });

  it("offers three tools in place of all with --search, under its own name", async () => {
    using folder = new GatewayFolder();
    const file = folder.config({ one: folder.child("one") });
    await using parley = start(folder, ["--config", file, "--search", "--as", "mine"]);
    expect(await toolsAt(parley)).toEqual(["search_tools", "describe_tool", "call_tool"]);
    await using client = await connect(await parley.url());
    expect(await client.call("search_tools", { query: "number of process" })).toContain("one__pid");
    expect(client.serverInfo).toMatchObject({ name: "mine" });
  });

  it.each([
    ["a port that is taken", (port: number) => ["--http", String(port)]],
    ["an address beyond this machine without consent", () => ["--http", "0", "--host", "0.0.0.0"]],
  ])("starts no program for %s", async (_what, args) => {
    using folder = new GatewayFolder();
    const mark = join(folder.path, "started");
    const program = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "")`;
    const file = folder.config({ one: { command: process.execPath, args: ["-e", program] } });
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const io = { cwd: folder.path, home: folder.path };
    const { code, stderr } = await runParley(["gateway", ...args(port), "--config", file], io);
    await new Promise((resolve) => other.close(resolve));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/^fix: /m);
    expect(existsSync(mark)).toBe(false);
    expect(stderr).not.toContain("ready");
  });

  it("fails if a server that is required does not start", async () => {
    using folder = new GatewayFolder();
    const text = JSON.stringify({ servers: { one: { command: "no-such-program", required: true } } });
    writeFileSync(join(folder.path, "required.json"), text);
    const parley = start(folder, ["--config", "required.json"]);
    expect(await parley.ended).toBe(3);
    expect(parley.stderr).toMatch(/^error: .*no-such-program.*\nfix: /m);
  });

  it.each([
    [["--config", "none.json"], "none.json does not exist"],
    [["--config", "broken.json"], "broken.json: "],
    [["--config", "empty.json"], "empty.json can be used"],
    [["--config", "some.json", "--name", "two"], 'no server "two" in'],
    [["--config", "some.json", "--from", "cursor"], "cannot be combined"],
    [["--from", "emacs"], "Allowed choices are parley, claude"],
    [["--from", "windsurf"], 'no configuration file of the application "windsurf" exists'],
    [[], "no configuration with servers was found"],
    [["some.json"], 'unexpected argument "some.json"'],
  ])("%j is refused with its cause and a fix", async (args, cause) => {
    using folder = new GatewayFolder();
    folder.config({ one: { command: "x" } }, "some.json");
    folder.write("broken.json", "{ not json");
    folder.write("empty.json", "{}");
    const { code, stderr } = await runParley(["gateway", ...args], { cwd: folder.path, home: folder.path });
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(2);
  });
});
