import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { noScreen, Screen } from "../kit/screen.js";
import { BUILT, BuiltParley, isBuilt } from "./built-parley.js";
import { GatewayFolder } from "./gateway-folder.js";
import { ModuleFolder } from "./module-folder.js";
import { ServingParley } from "./serving-parley.js";

if (noScreen !== undefined) console.log(`parley run was tried on no terminal: ${noScreen}`);

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** A folder for sockets; it must be short, because the paths of sockets are. */
function runtimeOf(folder: ModuleFolder): { XDG_RUNTIME_DIR: string; XDG_CACHE_HOME: string } {
  const runtime = join(folder.path, "r");
  mkdirSync(runtime, { recursive: true });
  return { XDG_RUNTIME_DIR: runtime, XDG_CACHE_HOME: join(folder.path, "cache") };
}

const gateway = (folder: GatewayFolder, args: readonly string[]) =>
  new BuiltParley(["gateway", ...args], { cwd: folder.path, env: runtimeOf(folder) });

describe.skipIf(!isBuilt)("parley run as a process", () => {
  it("serves its parent on stdio, and keeps what the module prints away from stdout", async () => {
    const code = `import { Server } from "@parley/mcp"; console.log("printed");
      export default new Server({ name: "x", version: "1.0.0" }).tool("say", () => { console.log("again"); return "said"; });`;
    using folder = new ModuleFolder({ "main.ts": code }).link();
    const target = { command: process.execPath, args: [BUILT, "run", "main.ts"], cwd: folder.path };
    const client = await connect(target, { strict: true });
    const faults: Error[] = [];
    client.on("fault", (fault) => void faults.push(fault));
    expect(await client.call("say")).toBe("said");
    expect(faults).toEqual([]);
    await client.close();
  });

  it.skipIf(noScreen !== undefined)("says in a terminal what serves there, once, and ends with Ctrl-C", async () => {
    const code = 'import { Server } from "@parley/mcp"; export default new Server({ name: "x", version: "1.0.0" });';
    using folder = new ModuleFolder({ "main.ts": code }).link();
    const program = [process.execPath, BUILT, "run", "main.ts", "--stdio"];
    await using screen = new Screen(program, { cwd: folder.path, env: { HOME: folder.path, PATH: "" } });
    expect(await screen.shows("Ctrl-C")).toBe(
      [
        "serving main.ts on stdin and stdout",
        "try: npx @parley/cli inspect -- npx @parley/cli run main.ts --stdio",
        "     npx @parley/cli list -- npx @parley/cli run main.ts --stdio",
        "An application starts this command and speaks JSON-RPC with it. Ctrl-C ends it.",
      ].join("\n"),
    );
    screen.type("hello?\n");
    expect((await screen.shows("-32700")).match(/^try:/gm)).toHaveLength(1);
    screen.press("C-c");
    expect(await screen.ended()).toBe(0);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("ends with 0 after %s", async (signal) => {
    const code = 'import { Server } from "@parley/mcp"; export default new Server({ name: "x", version: "1.0.0" });';
    using folder = new ModuleFolder({ "main.ts": code }).link();
    for (const args of [["--http", "0"], ["--stdio"], ["--stdio", "--watch"]]) {
      await using parley = new BuiltParley(["run", "main.ts", ...args], { cwd: folder.path });
      await parley.told(args.includes("--watch") ? /watching/ : /try:/);
      expect(await parley.end(signal), parley.stderr).toBe(0);
      expect(parley.stdout).toBe("");
    }
  });

  it("goes on serving with --watch when the module fails outside of a call, and reports where", async () => {
    const code = `import { Server } from "@parley/mcp";
export default new Server({ name: "x", version: "1.0.0" })
  .tool("reject", () => void setTimeout(() => { void Promise.reject(new Error("a lost connection")); }))
  .tool("throw", () => void setTimeout(() => { throw new Error("a broken timer"); }))
  .tool("say", () => "said");`;
    using folder = new ModuleFolder({ "main.ts": code }).link();
    await using parley = new BuiltParley(["run", "main.ts", "--http", "0", "--watch"], { cwd: folder.path });
    await parley.told(/watching/);
    await using client = await connect(/at (http:\S+)/.exec(parley.stderr)?.[1] ?? "");
    await client.call("reject");
    await parley.told(/main\.ts:3:\d+: a lost connection\nfix: {3}Handle this error in the module\./);
    await client.call("throw");
    await parley.told(/main\.ts:4:\d+: a broken timer\n/);
    await client.call("throw");
    expect(await client.call("say")).toBe("said");
    expect(parley.stderr.match(/a broken timer/g)).toHaveLength(1);
    expect(await parley.end("SIGTERM")).toBe(0);
  });

  it("ends with 0 when its client is gone", async () => {
    const code = 'import { Server } from "@parley/mcp"; export default new Server({ name: "x", version: "1.0.0" });';
    using folder = new ModuleFolder({ "main.ts": code }).link();
    await using parley = new BuiltParley(["run", "main.ts"], { cwd: folder.path });
    parley.process.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    expect(await parley.ended()).toBe(0);
    expect(JSON.parse(parley.stdout)).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });
});

describe.skipIf(!isBuilt)("parley gateway as a process", () => {
  it.each([
    ["SIGTERM", 0],
    ["SIGINT", 0],
    ["SIGKILL", "SIGKILL"],
  ] as const)("leaves no child behind after %s", async (signal, code) => {
    using folder = new GatewayFolder();
    const file = folder.config({ one: folder.child("one"), two: folder.child("two") });
    await using parley = gateway(folder, ["--config", file, "--http", "0"]);
    await parley.told(/try: .* list \S+/);
    await using client = await connect(/at (http:\S+)/.exec(parley.stderr)?.[1] ?? "");
    const pids = [Number(await client.call("one__pid")), Number(await client.call("two__pid"))];
    expect(pids.map(isAlive)).toEqual([true, true]);
    expect(await parley.end(signal)).toBe(code);
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
  });

  it("serves its parent on stdio, and ends with it", async () => {
    using folder = new GatewayFolder();
    const file = folder.config({ one: folder.child("one") });
    const client = await connect({
      command: process.execPath,
      args: [BUILT, "gateway", "--config", file],
      cwd: folder.path,
      env: runtimeOf(folder),
    });
    const pid = Number(await client.call("one__pid"));
    expect(isAlive(pid)).toBe(true);
    await client.close();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe.skipIf(!isBuilt)("parley tree", () => {
  const look = (folder: GatewayFolder, args: readonly string[]) =>
    runParley(["tree", ...args], { cwd: folder.path, env: runtimeOf(folder) });

  it("shows a gateway, lists several, chooses by number and name, and forgets those that are dead", async () => {
    using folder = new GatewayFolder();
    expect(await look(folder, [])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("no gateway of this user"),
    });
    const file = folder.config({ one: folder.child("one"), gone: { command: "no-such-program" } });
    await using first = gateway(folder, ["--config", file, "--http", "0"]);
    await first.told(/try:/);
    const { stdout } = await look(folder, []);
    expect(stdout).toMatch(/^parley-gateway {2}pid \d+ {2}at http/);
    expect(stdout).toMatch(/^├─ one running, up/m);
    expect(stdout).toMatch(/^one +ready +0 +0 running +3 +2026-07-28$/m);
    expect(stdout).toMatch(/^gone: "no-such-program" was not found\nfix: /m);

    await using second = gateway(folder, ["--config", file, "--http", "0", "--as", "second", "--name", "one"]);
    await second.told(/try:/);
    const listed = await look(folder, []);
    expect(listed.stdout).toMatch(/^pid +name +ready/);
    expect(listed.stdout).toMatch(/ second +1 of 1 +http/);
    expect((await look(folder, [String(first.process.pid)])).stdout).toContain("gone");
    const named = await look(folder, ["second", "--json"]);
    expect(JSON.parse(named.stdout)).toMatchObject({
      name: "second",
      tree: { state: "running" },
      servers: { one: { state: "ready" } },
    });
    expect(JSON.parse((await look(folder, ["--json"])).stdout).gateways).toHaveLength(2);
    expect(await look(folder, ["third"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no gateway "third"'),
    });
    expect(await look(folder, ["--watch"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("several gateways"),
    });

    await second.end("SIGKILL");
    const sockets = join(folder.path, "r/parley");
    expect(readdirSync(sockets)).toHaveLength(2);
    expect((await look(folder, ["--json"])).stdout).not.toContain("second");
    expect(readdirSync(sockets)).toEqual([`gateway-${first.process.pid}.sock`]);
  });

  it("follows a gateway until it ends", async () => {
    using folder = new GatewayFolder();
    const file = folder.config({ one: folder.child("one") });
    await using parley = gateway(folder, ["--config", file, "--http", "0"]);
    await parley.told(/try:/);
    const watching = new ServingParley(["tree", "--watch", "--json"], { cwd: folder.path, env: runtimeOf(folder) });
    await expect.poll(() => watching.stdout.split("\n")[0]).not.toBe("");
    await parley.end("SIGTERM");
    expect(await watching.ended).toBe(0);
    expect(watching.stderr).toBe("the gateway has ended\n");
    expect(JSON.parse(watching.stdout.split("\n")[0] ?? "")).toMatchObject({ pid: parley.process.pid });
  });

  it("answers one document whatever it is sent, and nothing over TCP", async () => {
    using folder = new GatewayFolder();
    const file = folder.config({ one: folder.child("one") });
    await using parley = gateway(folder, ["--config", file, "--http", "0"]);
    await parley.told(/try:/);
    const socket = createConnection(join(folder.path, "r/parley", `gateway-${parley.process.pid}.sock`));
    socket.write(`${"x".repeat(100_000)}\n`);
    let text = "";
    for await (const chunk of socket) text += chunk;
    expect(JSON.parse(text)).toMatchObject({ name: "parley-gateway" });
    const { origin } = new URL(/at (http:\S+)/.exec(parley.stderr)?.[1] ?? "");
    for (const path of ["/", "/tree", "/mcp/tree"]) expect((await fetch(origin + path)).status).toBe(404);
  });

  it.each([
    ["others can use it", (path: string) => mkdirSync(path, { mode: 0o755 }), "other users can use"],
    ["it is a link", (path: string) => symlinkSync("/tmp", path), "is not a folder"],
  ])("is not offered in a folder where %s, and the gateway serves nevertheless", async (_why, prepare, cause) => {
    using folder = new GatewayFolder();
    const path = join(runtimeOf(folder).XDG_RUNTIME_DIR, "parley");
    prepare(path);
    const file = folder.config({ one: folder.child("one") });
    await using parley = gateway(folder, ["--config", file, "--http", "0"]);
    await parley.told(/try:/);
    expect(parley.stderr).toContain(cause);
    expect(existsSync(join(path, `gateway-${parley.process.pid}.sock`))).toBe(false);
    const { code, stderr } = await look(folder, []);
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(3);
  });

  it("believes no other program that listens in the folder", async () => {
    using folder = new GatewayFolder();
    const path = join(runtimeOf(folder).XDG_RUNTIME_DIR, "parley");
    mkdirSync(path, { mode: 0o700 });
    chmodSync(path, 0o700);
    const liar = createServer((socket) => socket.end('{"pid":"\\u001b[2J"}'));
    await new Promise<void>((resolve) => liar.listen(join(path, "gateway-1.sock"), resolve));
    expect(await look(folder, [])).toMatchObject({ code: 3, stdout: "" });
    await new Promise((resolve) => liar.close(resolve));
  });
});
