import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import { connect } from "@parley/mcp";
import { Host, type HostOptions } from "@parley/mcp/host";
import { channelTransport, messagePortChannel, serveChannel } from "@parley/mcp/transport";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { eventually, isRunning } from "../../stdio/processes.js";
import { localServer, QUICK } from "../servers/hosted-servers.js";

const PROGRAM = fileURLToPath(new URL("./dying-program.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "parley-dying-"));
const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A server that dies when it is asked for `fatal` the first `times` times, and the ids of its processes. */
function dying(fatal: string, times: number) {
  const file = join(folder, `${fatal.replace("/", "-")}-${crypto.randomUUID()}`);
  const pids = () => readFileSync(file, "utf8").trim().split("\n").map(Number);
  return { entry: { command: process.execPath, args: [PROGRAM, file, fatal, String(times)] }, pids };
}

async function started(options: HostOptions): Promise<Host> {
  const host = new Host({ restarts: QUICK, startWaitMs: 30_000, ...options });
  opened.push(host);
  await host.start();
  return host;
}

describe("a server that is killed", () => {
  it.each(["server/discover", "initialize", "notifications/initialized", "tools/list"])(
    "at %s is started until it works, and nothing is left of it",
    async (fatal) => {
      const { entry, pids } = dying(fatal, 2);
      const host = await started({ servers: { a: entry, b: localServer("b") } });
      expect(await host.call("b__whoami")).toBe("b");
      expect(await eventually(() => host.status()["a"]?.state === "ready")).toBe(true);
      expect(await host.call("a__hello")).toBe("hello");
      // Without an answer to the first question of a handshake, another one is tried at once, with the older handshake.
      const { lastError } = host.status()["a"] ?? {};
      if (fatal !== "server/discover") expect(lastError?.message).toContain("SIGKILL");
      expect(pids().slice(0, -1).filter(isRunning)).toEqual([]);
      await host.close();
      expect(pids().filter(isRunning)).toEqual([]);
    },
  );

  it("during a call ends that call once, and the next one is answered", async () => {
    const { entry, pids } = dying("tools/call", 1);
    const host = await started({ servers: { a: entry } });
    await expect(host.call("a__hello")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(await host.call("a__hello")).toBe("hello");
    expect(pids().length).toBe(2);
    expect(host.status()["a"]).toMatchObject({ state: "ready", restarts: 1 });
  });

  it("during a question of a call ends both, for the application", async () => {
    const { entry } = dying("question", 1);
    const ended: unknown[] = [];
    const warnings: string[] = [];
    const host = await started({
      servers: { a: entry },
      client: {
        onWarning: (message) => void warnings.push(message),
        onElicit: (_question, { signal }) =>
          ended.length > 0
            ? { action: "accept", content: { ok: true } }
            : new Promise((_, reject) => {
                signal.addEventListener("abort", () => {
                  ended.push(signal.reason);
                  reject(signal.reason);
                });
              }),
      },
    });
    await expect(host.call("a__ask")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(await eventually(() => ended.length === 1)).toBe(true);
    expect(await host.call("a__ask")).toBe("answered accept");
    expect(warnings).toEqual([]);
  });

  it.each(["2025-11-25", "2026-07-28"] as const)(
    "during a question ends the call of a gateway's client of %s",
    async (revision) => {
      const { entry, pids } = dying("nothing", 0);
      const warnings: string[] = [];
      const warn = (message: string) => void warnings.push(message);
      const host = new Host({ servers: { a: entry }, restarts: QUICK, startWaitMs: 30_000, platform: { warn } });
      opened.push(host);
      const gateway = host.asServer();
      await host.start();
      let asked = 0;
      const client = await connect(gateway, {
        revisions: [revision],
        onElicit: async () => {
          // The first question is answered only after the server is gone.
          if (asked++ === 0) {
            process.kill(pids().at(-1) ?? 0, "SIGKILL");
            await eventually(() => host.status()["a"]?.restarts === 1);
          }
          return { action: "accept", content: { ok: true } };
        },
      });
      opened.push(client);
      await expect(client.callTool("a__ask")).rejects.toMatchObject({ remote: true });
      await host.ready("a");
      expect(await client.callTool("a__ask")).toMatchObject({ content: [{ text: "answered accept" }] });
      expect(asked).toBe(2);
      expect(warnings).toEqual([]);
    },
  );
});

describe("a server that hangs", () => {
  it("is noticed by its health, ended by force, and replaced", async () => {
    const { entry, pids } = dying("nothing", 0);
    const health = { intervalMs: 100, deadlineMs: 3_000, failures: 2 };
    const host = await started({ servers: { a: entry }, health });
    const [hung = 0] = pids();
    process.kill(hung, "SIGSTOP");
    await expect(host.call("a__hello")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(await host.call("a__hello")).toBe("hello");
    expect(host.status()["a"]).toMatchObject({ restarts: 1, lastError: { message: expect.stringContaining("pings") } });
    expect(await eventually(() => !isRunning(hung))).toBe(true);
  });

  it("leaves its calls to the other connections of a pool", async () => {
    const { entry, pids } = dying("nothing", 0);
    const host = await started({ servers: { a: { ...entry, connections: 2 } } });
    expect(pids().length).toBe(2);
    process.kill(pids()[0] ?? 0, "SIGKILL");
    expect(await eventually(() => host.status()["a"]?.restarts === 1)).toBe(true);
    expect(host.status()["a"]?.state).toBe("ready");
    expect(await host.call("a__hello")).toBe("hello");
    expect(await eventually(() => host.status()["a"]?.connections === 2)).toBe(true);
    process.kill(pids()[1] ?? 0, "SIGKILL");
    process.kill(pids()[2] ?? 0, "SIGKILL");
    expect(await eventually(() => host.status()["a"]?.restarts === 3)).toBe(true);
    expect(await host.call("a__hello")).toBe("hello");
    await host.close();
    expect(pids().filter(isRunning)).toEqual([]);
  });
});

describe("fifty servers that die at once", () => {
  it("are each started again once, after the back-off and not together", async () => {
    const ends = new Set<() => void>();
    const server = localServer("one of many");
    const makeTransport = () => {
      const { port1, port2 } = new MessageChannel();
      serveChannel(server, messagePortChannel(port2));
      ends.add(() => port2.close());
      return channelTransport(messagePortChannel(port1), "a port");
    };
    const names = Array.from({ length: 50 }, (_, at) => `s${at}`);
    const firstMs = 1_000;
    const host = await started({
      servers: Object.fromEntries(names.map((name) => [name, { server: { makeTransport } }])),
      restarts: { backOff: { firstMs, longestMs: 60_000, jitter: 0.2 } },
    });
    const crashed = new Map<string, number>();
    const waited: number[] = [];
    host.on("supervision", ({ step }) => {
      if (step.type !== "child") return;
      if (step.event === "crash") crashed.set(step.child, step.at);
      if (step.to === "starting") waited.push(step.at - (crashed.get(step.child) ?? Number.NaN));
    });
    for (const end of [...ends]) end();
    expect(await eventually(() => waited.length > 0 || crashed.size === 50)).toBe(true);
    expect(await eventually(() => names.every((name) => host.status()[name]?.state === "ready"))).toBe(true);
    expect(crashed.size).toBe(50);
    expect(waited.length).toBe(50);
    // A clock that counts whole milliseconds may round each end of the wait.
    expect(Math.min(...waited)).toBeGreaterThanOrEqual(firstMs * 0.8 - 2);
    expect(new Set(waited.map((ms) => Math.round(ms / 10))).size).toBeGreaterThan(5);
    expect(names.map((name) => host.status()[name]?.restarts)).toEqual(names.map(() => 1));
  });
});
