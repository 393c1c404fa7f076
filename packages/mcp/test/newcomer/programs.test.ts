import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Client, connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { expectTold } from "./told.js";

let program = "";
const children: ChildProcess[] = [];
const closing: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  program = await bundleFixture(new URL("./mistaken-program.ts", import.meta.url));
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const one of closing.splice(0)) await one.close();
});

/** Runs a program to its end, with nothing on its stdin. */
async function run(...words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, stdout, stderr };
}

/** A client of the program as a stdio server, and the lines that it printed. */
async function started(mistake: string): Promise<{ client: Client; printed: string[] }> {
  const printed: string[] = [];
  const stderr = (line: string) => void printed.push(line.trimEnd());
  const client = await connect({ command: process.execPath, args: [program, mistake], stderr });
  closing.push(client);
  return { client, printed };
}

describe("a server over stdio", () => {
  it("that prints before `serveStdio` is told so, and is served all the same", async () => {
    const { stdout, stderr } = await run(program, "prints before");
    expect(stdout).toBe("Starting the shop\n");
    expect(stderr).toBe(
      "[parley] 18 bytes were printed to stdout before `serveStdio` was called, where clients expect only messages. " +
        "Call `serveStdio` first, or log with console.error.\n",
    );
    const { client } = await started("prints before");
    expect(await client.call("buy")).toBe("bought");
  });

  it("that prints later has its lines on stderr, and one notice with the place", async () => {
    const { client, printed } = await started("serves");
    expect(await client.call("prints")).toBe("printed");
    expect(await client.call("prints")).toBe("printed");
    // Stderr is another pipe than the one of the answers.
    await expect.poll(() => printed.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
    expect(printed).toEqual([
      expect.stringMatching(
        /^\[parley\] stdout is reserved for the protocol, so the output printed at \S+mistaken-program\S+:\d+:\d+ and all later output goes to stderr\. Log with console\.error, or pass `guardStdout: false`\.$/,
      ),
      "a line of a handler",
      "a line of a handler",
    ]);
  });

  it("whose result is huge ends the call at once, and serves the next", async () => {
    const { client } = await started("serves");
    await expectTold(() => client.call("big"), {
      kind: "oversized_frame",
      message:
        /^\S+ \S+ serves sent an answer that is too long: A frame is longer than 16777216 bytes; it was skipped\.$/,
      fix: "Ask for less at once, or raise `maxMessageBytes` of `connect` or of the transport.",
    });
    expect(await client.call("buy")).toBe("bought");
  });

  it("that dies of a floating rejection is named with its last words, and started again", async () => {
    const { client } = await started("serves");
    await expectTold(() => client.call("floats"), {
      kind: "connection_closed",
      message: `"${process.execPath}" exited with code 1; stderr: Error: a late rejection`,
      fix: "Run the command in a terminal to see why it exits; `data.stderr` has its last lines.",
    });
    expect(await client.call("buy")).toBe("bought");
  });
});

describe("a command", () => {
  it("that does not exist is named", () =>
    expectTold(() => connect({ command: "no-such-program" }), {
      kind: "connect_failed",
      message: '"no-such-program" was not found',
      fix: "Install the program, pass its full path as `command`, or set `PATH` in `env`.",
    }));

  it("whose script does not exist is named with what it printed", () =>
    expectTold(() => connect({ command: process.execPath, args: ["/no/such/server.js"] }), {
      kind: "connect_failed",
      message: `"${process.execPath}" exited with code 1; stderr: Error: Cannot find module '/no/such/server.js'`,
      fix: "Install the server's dependencies, and check the path in `args`.",
    }));
});

describe("a program", () => {
  it("that forgets `await` before a call that fails ends with the message and the fix", async () => {
    const handle = await serveHttp(
      new Server({ name: "shop", version: "1" }).tool("buy", () => ""),
      { port: 0 },
    );
    closing.push(handle);
    const { code, stderr } = await run(program, "forgets await", handle.url);
    expect(code).toBe(1);
    expect(stderr).toContain('McpError: unknown tool: byu; did you mean "buy"?\n');
    expect(stderr).toContain('fix: "Compare the name and the arguments with the server\'s list."');
    expect(stderr).toContain("operation: { method: 'tools/call', target: 'byu' }");
  });

  it("whose hooks reject lives, and is told which", async () => {
    const { code, stdout, stderr } = await run(program, "rejects in hooks");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "bought\n" });
    const lines = [...new Set(stderr.trim().split("\n"))].sort();
    expect(lines).toEqual([
      "`observer.ended` failed: the log database is down",
      "`observer.started` failed: the log database is down",
      '`on("state")` failed: the log database is down',
      "`onRequest` failed: the log database is down",
    ]);
  });

  // What stays alive, and for how long, is held by `client/process-alive.test.ts`; no message can tell of an open socket.
  it("that forgets `close` finds in the guide why it does not end", () => {
    const guide = readFileSync(new URL("../../../../docs/clients.md", import.meta.url), "utf8");
    expect(guide).toContain("### What keeps a process alive");
    expect(guide).toContain("So close a client when it is no longer needed: `await client.close()`");
  });

  it("on a Node that is too old ends with the version that it needs", async () => {
    const pretend = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.4'}})";
    const { code, stderr } = await run("--import", `data:text/javascript,${pretend}`, program, "serves over HTTP");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "McpError: Node 20.19 or later, Bun or Deno is required, but this is Node 18.20.4: install a newer Node.\n",
    );
    expect(stderr).toContain("fix: 'Install a newer Node.'");
  });

  it("for a browser that imports the entry for Node is told which one to import", async () => {
    const page = await bundleFixture(new URL("./page.ts", import.meta.url));
    const { stdout } = await run(page);
    expect(stdout).toBe(
      "Node 20.19 or later, Bun or Deno is required, but this is a runtime without Node's modules: " +
        "import `@parley/mcp` instead of `@parley/mcp/node`: it runs here too.\n" +
        "Import `@parley/mcp` instead of `@parley/mcp/node`: it runs here too.\n",
    );
  });
});
