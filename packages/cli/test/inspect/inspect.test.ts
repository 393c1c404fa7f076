import { readFileSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { freePort } from "../../../mcp/test/free-port.js";
import { runParley } from "../kit/run-parley.js";
import { ModuleFolder } from "../run/module-folder.js";
import { InspectingParley } from "./inspecting-parley.js";

const MODULE = `import { Server } from "@parley/mcp";
  export default new Server({ name: "module", version: "1.0.0" }).tool("pid", () => String(process.pid));`;
/** A program that serves, and writes its number to a file. */
const PROGRAM = `import { writeFileSync } from "node:fs"; import { Server } from "@parley/mcp"; import { serveStdio } from "@parley/mcp/node";
  writeFileSync("pid", String(process.pid)); console.error("started with " + process.env.API_KEY);
  await serveStdio(new Server({ name: "program", version: "1.0.0" }).tool("hello", () => "hello"));`;

const project = () => new ModuleFolder({ "server.ts": MODULE, "program.mjs": PROGRAM }).link();

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connectSocket(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("close", () => undefined).setTimeout(5_000, () => socket.destroy());
    socket.once("connect", () => socket.destroy());
  });

describe("parley inspect", () => {
  it("prints one line with the address, serves the page there, and connects", async () => {
    using folder = project();
    await using parley = await InspectingParley.start(["server.ts"], { cwd: folder.path });
    const url = await parley.url();
    expect(url.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("Parley inspector");
    const { connections, targets } = await parley.connected(1);
    expect(connections[0]).toMatchObject({
      server: { name: "module" },
      target: { kind: "module", shown: "server.ts" },
    });
    expect(targets).toHaveLength(1);
    expect(parley.stdout).toBe(`${url.href}\n`);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends with 0 after %s, and leaves neither a child nor a listener",
    async (signal) => {
      using folder = project();
      const port = await freePort();
      const program = ["--", process.execPath, "program.mjs"];
      await using parley = await InspectingParley.start(["--port", `${port}`, ...program], { cwd: folder.path });
      await parley.connected(1);
      const pid = Number(readFileSync(`${folder.path}/pid`, "utf8"));
      expect([isAlive(pid), await isListening(port)]).toEqual([true, true]);
      expect(await parley.end(signal), parley.stderr).toBe(0);
      await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
      expect(await isListening(port)).toBe(false);
    },
  );

  it("ends while a page follows, and while a server does not answer", async () => {
    using folder = project();
    folder.write("silent.mjs", "setInterval(() => {}, 1000);");
    await using parley = await InspectingParley.start(["--", process.execPath, "silent.mjs"], { cwd: folder.path });
    await parley.until(({ connections }) => connections[0]?.status === "connecting");
    expect(await parley.end("SIGINT"), parley.stderr).toBe(0);
  });

  it("connects to several servers of all kinds, with the options that fit each", async () => {
    using folder = project();
    const seen: string[] = [];
    const server = new Server({ name: "remote", version: "1.0.0" }).tool("key", (_: unknown, { http }) => {
      seen.push(http?.headers()["x-key"] ?? "");
      return "seen";
    });
    await using handle = await serveHttp(server, { port: 0 });
    const args = [handle.url, "server.ts", "-H", "X-Key: for-the-url", "-e", "API_KEY=secret-of-the-program"];
    await using parley = await InspectingParley.start([...args, "--", process.execPath, "program.mjs"], {
      cwd: folder.path,
    });
    const { connections } = await parley.connected(3);
    expect(connections.map(({ server: who }) => who?.name).sort()).toEqual(["module", "program", "remote"]);
    const remote = connections.find(({ target }) => target.kind === "url");
    await parley.act("call", { connection: remote?.id, request: { kind: "tool", name: "key", arguments: {} } });
    await expect.poll(() => seen).toEqual(["for-the-url"]);
    const shown = async () => {
      const { timeline } = await parley.state();
      const seqs = Array.from({ length: timeline.next - timeline.first }, (_, at) => timeline.first + at);
      return JSON.stringify(await Promise.all(seqs.map((seq) => parley.act("entry", { seq }))));
    };
    await expect.poll(shown).toContain("stderr: started with [redacted]");
    expect(await shown()).not.toMatch(/secret-of-the-program|for-the-url/);
  });

  it("connects to every server of a file, and says which cannot be used", async () => {
    using folder = project();
    const program = { command: process.execPath, args: ["program.mjs"], cwd: folder.path };
    const servers = { one: program, two: program, off: { ...program, disabled: true }, broken: { command: 5 } };
    folder.write("servers.json", JSON.stringify({ mcpServers: servers }));
    await using parley = await InspectingParley.start(["--config", "servers.json"], { cwd: folder.path });
    expect((await parley.connected(2)).targets).toHaveLength(2);
    expect(parley.stderr).toMatch(/skipped .*broken/);
  });

  it("opens with no server, and connects to an address of the page", async () => {
    using folder = project();
    await using parley = await InspectingParley.start([], { cwd: folder.path });
    expect((await parley.state()).connections).toEqual([]);
    await using handle = await serveHttp(new Server({ name: "remote", version: "1.0.0" }), { port: 0 });
    await parley.act("connectUrl", { url: handle.url });
    expect((await parley.connected(1)).connections[0]?.server?.name).toBe("remote");
  });

  it("prints JSON for programs, at the port that is asked for", async () => {
    using folder = project();
    const port = `${await freePort()}`;
    await using parley = await InspectingParley.start(["--json", "--port", port], { cwd: folder.path });
    expect(new URL(JSON.parse(await parley.line).url).port).toBe(port);
  });

  it("speaks the revision that is asked for", async () => {
    using folder = project();
    await using parley = await InspectingParley.start(["server.ts", "--revision", "2025-06-18"], { cwd: folder.path });
    expect((await parley.connected(1)).connections[0]?.revision).toBe("2025-06-18");
  });

  it("shows a server that cannot be reached as one that failed, and goes on", async () => {
    using folder = project();
    await using parley = await InspectingParley.start(["http://127.0.0.1:9/mcp", "server.ts"], { cwd: folder.path });
    const { connections } = await parley.until((state) => state.connections.some(({ status }) => status === "failed"));
    expect(connections.find(({ status }) => status === "failed")?.problem?.message).toMatch(/127\.0\.0\.1:9/);
    await parley.connected(1);
  });

  it("shows the server of a module as it is after each save, and the old one while the file is broken", async () => {
    using folder = project();
    await using parley = await InspectingParley.start(["server.ts"], { cwd: folder.path });
    const { connections } = await parley.connected(1);
    const connection = connections[0]?.id;
    const tools = async () => {
      const { offers } = await parley.act("list", { connection, kind: "tools" });
      return (offers as { name: string }[]).map(({ name }) => name);
    };
    expect(await tools()).toEqual(["pid"]);
    const before = await parley.state();
    folder.write("server.ts", MODULE.replace('tool("pid"', 'tool("first"'));
    await parley.until((now) => (now.connections[0]?.lists.tools ?? 0) > (before.connections[0]?.lists.tools ?? 0));
    expect(await tools()).toEqual(["first"]);
    await expect.poll(() => parley.stderr).toMatch(/\nreloaded after a change to server\.ts, in \d+ ms\n/);
    folder.write("server.ts", "export const server = ;");
    await expect
      .poll(() => parley.stderr)
      .toMatch(/error: .*server\.ts:1:23: syntax error[\s\S]*\nthe previous version continues to serve\n/);
    expect(await tools()).toEqual(["first"]);
    folder.write("server.ts", "import { Server } from '@parley/mcp';\n\nthrow new Error('not today');");
    await expect.poll(() => parley.stderr).toMatch(/error: .*server\.ts:3:7: not today\n/);
    folder.write("server.ts", MODULE.replace(/tool\(.*$/, 'tool("second", () => { throw new TypeError("oh"); });'));
    await expect.poll(tools).toEqual(["second"]);
    await parley.act("call", { connection, request: { kind: "tool", name: "second", arguments: {} } });
    await expect.poll(() => parley.stderr).toMatch(/"second": TypeError: oh\n +at .*server\.ts:2:\d+\)\n$/);
    // The connection was never lost: clients learn of the new tools by a notification.
    expect((await parley.state()).connections[0]).toMatchObject({ status: "ready", opened: 1 });
    expect(parley.stdout).toBe(`${(await parley.url()).href}\n`);
  });

  it("connects again when a save changes the name of the server or adds its first prompt", async () => {
    using folder = project();
    await using parley = await InspectingParley.start(["server.ts"], { cwd: folder.path });
    await parley.connected(1);
    folder.write(
      "server.ts",
      MODULE.replace('name: "module"', 'name: "notes"').replace(
        /;$/,
        '.prompt("ask", { description: "Asks" }, () => "?");',
      ),
    );
    const { connections } = await parley.until(
      (now) => now.connections[0]?.status === "ready" && now.connections[0].server?.name === "notes",
    );
    expect(Object.keys(connections[0]?.lists ?? {})).toEqual(["tools", "prompts"]);
  });

  it("reports a save once for several connections, and stops watching with the last of them", async () => {
    using folder = project();
    const text = MODULE.replace(/^/, 'console.log("evaluated");\n');
    folder.write("server.ts", text);
    await using parley = await InspectingParley.start(["server.ts"], { cwd: folder.path });
    const { connections, targets } = await parley.connected(1);
    await parley.act("connect", { target: targets[0]?.id });
    const both = await parley.connected(2);
    folder.write("server.ts", text.replace('tool("pid"', 'tool("saved"'));
    await expect.poll(() => parley.stderr).toContain("reloaded");
    for (const { id } of both.connections) await parley.act("disconnect", { connection: id });
    await parley.until((now) => now.connections.every(({ status }) => status === "closed"));
    folder.write("server.ts", text.replace('tool("pid"', 'tool("unwatched"'));
    await parley.act("reopen", { connection: connections[0]?.id });
    await parley.connected(1);
    expect(parley.stderr.match(/^reloaded/gm)).toHaveLength(1);
    // Evaluated at the start, after the first save, and for the new connection.
    expect(parley.stderr.match(/^evaluated$/gm)).toHaveLength(3);
    expect(await parley.end("SIGINT"), parley.stderr).toBe(0);
  });

  it("offers the program of --sample-with", async () => {
    using folder = project();
    await using parley = await InspectingParley.start(["--sample-with", "node model.mjs"], { cwd: folder.path });
    expect((await parley.state()).modelCommand).toBe(true);
  });
});

describe("parley inspect with a wrong command line", () => {
  it.each([
    [["ftp://example.com/"], /is not an HTTP URL/],
    [["./missing.ts"], /the file .* does not exist/],
    [["nobody"], /no server "nobody" in/],
    [["--config", "missing.json"], /does not exist/],
    [["--port", "70000"], /70000 is out of range for --port/],
    [["--header", "X-Key: a"], /--header works only with a server at a URL/],
    [["--sample-with", ""], /--sample-with is empty/],
    [["--revision", "1999-01-01"], /1999-01-01/],
    [["--record", "a.jsonl"], /unknown option/],
  ])("is refused: %j", async (args, message) => {
    const { code, stdout, stderr } = await runParley(["inspect", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });
});
