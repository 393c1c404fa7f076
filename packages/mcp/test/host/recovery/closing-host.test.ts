import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Host, type HostOptions } from "@parley/mcp/host";
import { afterAll, describe, expect, it } from "vitest";
import { eventually, isRunning } from "../../stdio/processes.js";
import { localServer, QUICK, stdioServer } from "../servers/hosted-servers.js";

const folder = mkdtempSync(join(tmpdir(), "parley-closing-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Far more than closing takes on a slow machine, far less than a start may take. */
const BOUND_MS = 15_000;

/** A program that writes down its process id, and then does what it is told. */
function program(name: string, code: string) {
  const file = join(folder, `${name}-${crypto.randomUUID()}`);
  appendFileSync(file, "");
  const script = `require("node:fs").appendFileSync(${JSON.stringify(file)}, process.pid + "\\n"); ${code}`;
  return {
    entry: { command: process.execPath, args: ["-e", script] },
    pids: () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number) : []),
  };
}

const STUBBORN = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);`;

async function closesInTime(host: Host): Promise<void> {
  const late = Symbol("late");
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<symbol>((resolve) => {
    timer = setTimeout(() => resolve(late), BOUND_MS);
  });
  expect(await Promise.race([host.close(), bound])).not.toBe(late);
  clearTimeout(timer);
}

describe("closing a host", () => {
  it("that was never started starts nothing afterwards", async () => {
    const { entry, pids } = program("never", STUBBORN);
    const host = new Host({ servers: { a: entry } });
    await closesInTime(host);
    await host.start().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(pids()).toEqual([]);
  });

  it("while a server hangs in its start leaves no process", async () => {
    const { entry, pids } = program("hanging", STUBBORN);
    const host = new Host({ servers: { a: entry } });
    const starting = host.start();
    expect(await eventually(() => pids().length === 1)).toBe(true);
    await closesInTime(host);
    await starting;
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it("in the very turn in which it is started leaves no process", async () => {
    const { entry, pids } = program("at-once", STUBBORN);
    const host = new Host({ servers: { a: entry } });
    const starting = host.start();
    await closesInTime(host);
    await starting;
    expect(await eventually(() => pids().filter(isRunning).length === 0)).toBe(true);
  });

  it("while what was saved is loaded starts nothing", async () => {
    const { entry, pids } = program("loading", STUBBORN);
    let loaded = (_text: undefined) => {};
    const load = () => new Promise<undefined>((resolve) => (loaded = resolve));
    const host = new Host({ servers: { a: entry }, catalogue: { load, save() {} } });
    const starting = host.start().catch((error: unknown) => error);
    const closing = closesInTime(host);
    loaded(undefined);
    await closing;
    await starting;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it.each(["restarting", "failed"] as const)("while a server is %s starts it no more", async (state) => {
    const { entry, pids } = program(state, "process.exit(7)");
    const restarts: HostOptions["restarts"] =
      state === "failed"
        ? { intensity: { restarts: 1, withinMs: 60_000 }, backOff: { firstMs: 10 }, retryMs: 100 }
        : { backOff: { firstMs: 100, longestMs: 100 } };
    const host = new Host({ servers: { a: entry }, restarts });
    await host.start();
    expect(await eventually(() => host.status()["a"]?.state === state)).toBe(true);
    await closesInTime(host);
    const count = pids().length;
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(pids().length).toBe(count);
  });

  it("with calls in flight ends each of them once, and refuses what comes", async () => {
    const host = new Host({ servers: { a: await stdioServer("a"), b: localServer("b") }, restarts: QUICK });
    await host.start();
    await host.ready("a");
    const pid = Number(await host.call("a__pid"));
    const waiting = [1, 2, 3].map(() => host.call("a__wait").catch((error: unknown) => error));
    await closesInTime(host);
    for (const outcome of await Promise.all(waiting)) expect(outcome).toMatchObject({ kind: "connection_closed" });
    expect(isRunning(pid)).toBe(false);
    await expect(host.call("a__pid")).rejects.toMatchObject({ kind: "connection_closed" });
    await expect(host.call("b__whoami")).rejects.toMatchObject({ kind: "connection_closed" });
    await expect(host.restart("a")).rejects.toThrow();
    await expect(host.add("c", localServer("c"))).rejects.toThrow();
    expect(Object.keys(host.status())).not.toContain("c");
    expect(host.status()["a"]?.state).toBe("stopped");
  });

  it("twice is one end", async () => {
    const host = new Host({ servers: { a: await stdioServer("a") } });
    await host.start();
    await Promise.all([closesInTime(host), closesInTime(host)]);
    await closesInTime(host);
    expect(host.status()["a"]?.state).toBe("stopped");
  });

  it("lets calls end within the time it is given", async () => {
    let finish = () => {};
    const server = localServer("a").tool("slow", {}, async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return "done";
    });
    const host = new Host({ servers: { a: server } });
    await host.start();
    const slow = host.call("a__slow");
    await new Promise((resolve) => setTimeout(resolve, 20));
    const closing = host.close({ drainMs: 30_000 });
    await expect(host.call("a__whoami")).rejects.toMatchObject({ kind: "connection_closed" });
    finish();
    expect(await slow).toBe("done");
    await closing;
  });

  it("after its calls have ended holds the process no longer", async () => {
    const held = new Set<object>();
    const timer = (ms: number, run: () => void, keepAlive?: boolean) => {
      const handle = setTimeout(() => {
        held.delete(made);
        run();
      }, ms);
      const made = {
        cancel() {
          held.delete(made);
          clearTimeout(handle);
        },
      };
      if (keepAlive === true) held.add(made);
      else handle.unref();
      return made;
    };
    const host = new Host({ servers: { a: localServer("a") }, platform: { timer } });
    await host.start();
    expect(await host.call("a__whoami")).toBe("a");
    await host.close({ drainMs: 60_000 });
    expect(held.size).toBe(0);
  });
});
