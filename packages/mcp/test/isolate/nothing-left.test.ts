import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect, Server } from "@parley/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { eventually, isRunning } from "../stdio/processes.js";
import { buildIsolation, type Isolation } from "./build-isolation.js";

let isolation: Isolation;

beforeAll(async () => {
  isolation = await buildIsolation("tools", "program");
});
afterAll(() => isolation[Symbol.dispose]());

const newServer = () => new Server({ name: "s", version: "1" });

/** Starts the program, and waits until it has said in which process its tools run. */
async function start(kind: string, end: string): Promise<{ program: ChildProcess; toolPid: number }> {
  const program = spawn(process.execPath, [fileURLToPath(isolation.url("program")), kind, end], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  // What the tool prints must not be here: on a pipe, stdout is the protocol's.
  const [line] = await once(createInterface(program.stdout), "line");
  return { program, toolPid: (JSON.parse(String(line)) as { pid: number }).pid };
}

it.each(["return", "close", "exit"])("a program with idle workers ends by %s", async (end) => {
  for (const kind of ["worker", "process"]) {
    const { program, toolPid } = await start(kind, end);
    const [code] = program.exitCode === null ? await once(program, "exit") : [program.exitCode];
    expect(code).toBe(0);
    expect(toolPid === program.pid).toBe(kind === "worker");
    expect(await eventually(() => !isRunning(toolPid))).toBe(true);
  }
});

it.each(["SIGTERM", "SIGKILL"] as const)(
  "a tool that loops in a process ends with its server, by %s",
  async (signal) => {
    const { program, toolPid } = await start("process", "loop");
    expect(isRunning(toolPid)).toBe(true);
    program.kill(signal);
    await once(program, "exit");
    expect(await eventually(() => !isRunning(toolPid))).toBe(true);
  },
);

describe("when the server closes", () => {
  it("no thread is left", async () => {
    const threads = () => readdirSync("/proc/self/task").length;
    const where = isolation.isolated(isolation.url("tools"), { export: "where", size: 3 });
    const server = newServer().tool("where", {}, where);
    const client = await connect(server);
    await Promise.all([1, 2, 3].map(() => client.call("where")));
    // Node itself ends threads at times, so only what the three workers add is looked at.
    const busy = threads();
    await server.close();
    expect(await eventually(() => threads() <= busy - 3)).toBe(true);
    await client.close();
  });

  it("no process is left", async () => {
    const where = isolation.isolated(isolation.url("tools"), { kind: "process", export: "where", size: 1 });
    const server = newServer().tool("where", {}, where);
    const client = await connect(server);
    const { pid } = JSON.parse(await client.call("where")) as { pid: number };
    expect(isRunning(pid)).toBe(true);
    await server.close();
    expect(isRunning(pid)).toBe(false);
    await client.close();
  });

  it("a call that runs is answered, and its worker ends after it", async () => {
    const pool = isolation.isolatedPool({ kind: "process", size: 1 });
    const input = z.object({ ms: z.number() });
    const url = isolation.url("tools");
    const server = newServer()
      .tool("where", {}, pool.tool(url, { export: "where" }))
      .tool("busy", { input }, pool.tool(url, { export: "busy" }));
    const client = await connect(server);
    const { pid } = JSON.parse(await client.call("where")) as { pid: number };
    const busy = client.call("busy", { ms: 300 });
    await client.ping();
    await server.close();
    expect(await busy).toBe("done");
    expect(await eventually(() => !isRunning(pid))).toBe(true);
    await client.close();
  });
});

it("a server closes whose bundle left out the program of the workers, and its calls say so", async () => {
  using bundle = await buildIsolation("tools");
  rmSync(bundle.url("tool-worker"));
  const where = bundle.isolated(bundle.url("tools"), { export: "where" });
  const server = new Server({ name: "s", version: "1" }, { maskErrors: false, onError: () => {} });
  const client = await connect(server.tool("where", {}, where));
  expect(String(await client.callTool("where", {}).catch((error: unknown) => error))).toContain(
    "this bundle does not contain",
  );
  await client.close();
  await server.close();
});

it("a worker without a call ends after a while", async () => {
  const where = isolation.isolated(isolation.url("tools"), { kind: "process", export: "where", size: 1, idleMs: 50 });
  const client = await connect(newServer().tool("where", {}, where));
  const { pid } = JSON.parse(await client.call("where")) as { pid: number };
  expect(await eventually(() => !isRunning(pid))).toBe(true);
  const next = JSON.parse(await client.call("where")) as { pid: number };
  expect(next.pid).not.toBe(pid);
  await client.close();
  await where[Symbol.asyncDispose]();
});

it("a ping is answered while an isolated tool computes, and not while another does", async () => {
  const input = z.object({ ms: z.number() });
  const busy = isolation.isolated(isolation.url("tools"), { export: "busy", size: 1 });
  const server = newServer()
    .tool("plain", { input }, ({ ms }) => {
      const until = performance.now() + ms;
      while (performance.now() < until);
      return "done";
    })
    .tool("isolated", { input }, busy);
  const client = await connect(server);
  // The worker is started, so that what is compared is the tool's own work.
  await client.call("isolated", { ms: 0 });
  for (const name of ["plain", "isolated"] as const) {
    const order: string[] = [];
    const call = client.call(name, { ms: 700 }).then(() => order.push("call"));
    await Promise.all([call, client.ping().then(() => order.push("ping"))]);
    expect(order).toEqual(name === "plain" ? ["call", "ping"] : ["ping", "call"]);
  }
  await client.close();
  await server.close();
});

describe("at registration", () => {
  it.each([
    ["a file that does not exist", () => isolation.isolated(isolation.url("no-such")), "does not exist"],
    ["a path", () => isolation.isolated("./tools.js"), "is not a file URL"],
    ["another address", () => isolation.isolated("https://example.com/x.js"), "is not a file URL"],
    ["an unknown option", () => isolation.isolated(isolation.url("tools"), { pool: 1 } as never), '"pool" is not'],
    ["an unknown kind", () => isolation.isolatedPool({ kind: "thread" as never }), "`kind` of an isolated tool"],
    ["no workers", () => isolation.isolatedPool({ size: 0 }), "`size` of an isolated tool is 0"],
    ["no time", () => isolation.isolated(isolation.url("tools"), { timeoutMs: 0 }), "`timeoutMs` of an isolated tool"],
  ])("%s is refused", (_what, make, text) => {
    expect(make).toThrow(text);
  });
});
