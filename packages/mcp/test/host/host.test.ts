import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { type CatalogueStore, Host, type HostOptions, startHost } from "@parley/mcp/host";
import { printTree } from "@parley/mcp/supervision";
import { afterEach, describe, expect, it } from "vitest";
import { eventually, isRunning } from "../stdio/processes.js";
import { localServer, QUICK, stdioServer } from "./servers/hosted-servers.js";

const opened: Host[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function started(options: HostOptions): Promise<Host> {
  const host = await startHost({ restarts: QUICK, startWaitMs: 30_000, ...options });
  opened.push(host);
  return host;
}

const names = (host: Host) => host.tools().map(({ name }) => name);

describe("the catalogue of a host", () => {
  it("shows what filters leave, under names that fit, and calls what they stand for", async () => {
    const shop = new Server({ name: "shop", version: "1" })
      .tool("find", { description: "Find goods" }, () => "found")
      .tool("buy", {}, () => "bought")
      .tool("purge_all", {}, () => "gone")
      .tool("a.very/odd name with a length that is far beyond what any model provider takes today", {}, () => "odd");
    const host = await started({
      servers: { shop: { server: shop, tools: { deny: ["purge_*"] } } },
      transform: (tool) => (tool.name === "buy" ? { ...tool, name: "purchase" } : tool),
    });
    const [find, purchase, odd] = names(host);
    expect([find, purchase]).toEqual(["shop__find", "shop__purchase"]);
    expect(odd).toMatch(/^[\w-]{1,60}$/);
    expect(await Promise.all([find, purchase, odd].map((name) => host.call(name ?? "")))).toEqual([
      "found",
      "bought",
      "odd",
    ]);
    await expect(host.call("shop__purge_all")).rejects.toMatchObject({ kind: "invalid_params" });
    await expect(host.call("shop__buy")).rejects.toMatchObject({ kind: "invalid_params" });
    expect(host.search("goods")[0]).toMatchObject({ name: "shop__find", server: "shop" });
  });

  it("follows what servers add and remove, and tells it once", async () => {
    const server = localServer("a");
    const host = await started({ servers: { a: server } });
    await new Promise(setImmediate);
    const told: unknown[] = [];
    host.on("catalogue", ({ lists }) => told.push(lists));
    server.tool("more", {}, () => "").tool("most", {}, () => "");
    expect(await eventually(() => names(host).includes("a__most"))).toBe(true);
    expect(names(host)).toEqual(["a__whoami", "a__more", "a__most"]);
    server.remove("tool", "more");
    expect(await eventually(() => !names(host).includes("a__more"))).toBe(true);
    expect(await eventually(() => told.length === 2)).toBe(true);
    expect(told).toEqual([["tools"], ["tools"]]);
  });

  it("gains and loses servers while it runs", async () => {
    const host = await started({ servers: { a: localServer("a") } });
    await host.add("b", localServer("b"));
    expect(names(host)).toEqual(["a__whoami", "b__whoami"]);
    await host.remove("a");
    expect(names(host)).toEqual(["b__whoami"]);
    await expect(host.call("a__whoami")).rejects.toMatchObject({ kind: "invalid_params" });
    await expect(host.add("b", localServer("b"))).rejects.toThrow(/already has a server "b"/);
    await expect(host.remove("c")).rejects.toThrow(/no server "c"/);
  });

  it("answers from an earlier run while servers are slow, and upgrades live", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-warm-"));
    folders.push(folder);
    const gate = join(folder, "gate");
    const slow = await stdioServer("slow", "hangs-until", gate);
    let text: string | undefined;
    const store: CatalogueStore = {
      load: () => text,
      save: (saved) => {
        text = saved;
      },
    };
    writeFileSync(gate, "");
    const first = await startHost({ servers: { slow }, catalogue: store, startWaitMs: 30_000 });
    const known = names(first);
    expect(known).toContain("slow__whoami");
    await first.close();
    expect(text).not.toContain(folder);

    rmSync(gate);
    const second = new Host({ servers: { slow: { ...slow, startMs: 1000 } }, catalogue: store, restarts: QUICK });
    opened.push(second);
    await second.start();
    expect(second.status()["slow"]).toMatchObject({ state: "starting", stale: true });
    expect(names(second)).toEqual(known);
    const call = second.call("slow__whoami");
    writeFileSync(gate, "");
    await expect(call.catch(() => second.ready("slow").then(() => second.call("slow__whoami")))).resolves.toBe("slow");
    expect(second.status()["slow"]).toMatchObject({ state: "ready", stale: false });
  });
});

describe("the servers of a host", () => {
  it("must start where they are required, and the reason is told", async () => {
    const options = { servers: { a: localServer("a"), b: { command: "/no/such/program", required: true } } };
    await expect(startHost(options)).rejects.toMatchObject({
      kind: "connect_failed",
      message: expect.stringContaining("/no/such/program"),
    });
  });

  it("are refused where their entry leads nowhere or has unknown fields", () => {
    expect(() => new Host({ servers: { a: {} } })).toThrow(/neither a command nor an address/);
    expect(() => new Host({ servers: { a: { command: "x", url: "http://x" } } })).toThrow(/`command` and `url`/);
    expect(() => new Host({ servers: { a: { comand: "x" } as never } })).toThrow(/comand/);
    expect(() => new Host({ server: {} } as never)).toThrow(/server/);
    expect(new Host({ servers: { a: { disabled: true } } }).status()["a"]?.state).toBe("disabled");
  });

  it("are missed where they are required and disabled", async () => {
    const servers = { a: { disabled: true, required: true } };
    await expect(startHost({ servers })).rejects.toThrow(/"a" is required, but its entry disables it/);
  });

  it("come back after they died, and a call in flight ends once", async () => {
    const host = await started({ servers: { a: await stdioServer("a") } });
    const states: string[] = [];
    host.on("status", ({ status }) => states.push(status.state));
    const before = Number(await host.call("a__pid"));
    const waiting = host.call("a__wait").catch((error: unknown) => error);
    await expect(host.call("a__die")).rejects.toMatchObject({ kind: "connection_closed" });
    expect(await waiting).toMatchObject({ kind: "connection_closed" });
    // Waits for the restart.
    const after = Number(await host.call("a__pid"));
    expect(after).not.toBe(before);
    expect(isRunning(before)).toBe(false);
    expect(host.status()["a"]).toMatchObject({ state: "ready", restarts: 1, lastError: { kind: "connection_closed" } });
    expect(states).toEqual(["restarting", "ready"]);
    expect(printTree(host.tree())).toMatch(/host \(one_for_one\) running\n.*a running.*1 restart/);
  });

  it("are held after too many deaths, say so, and can be started by hand", async () => {
    const host = new Host({
      servers: { a: { command: process.execPath, args: ["-e", "process.exit(7)"] } },
      restarts: { intensity: { restarts: 2, withinMs: 60_000 }, backOff: { firstMs: 10 }, retryMs: 60_000 },
    });
    opened.push(host);
    await host.start();
    expect(await eventually(() => host.status()["a"]?.state === "failed")).toBe(true);
    expect(host.status()["a"]?.lastError?.message).toContain("code 7");
    await expect(host.ready("a")).rejects.toThrow(/not available.*code 7/);
    await expect(host.restart("a")).rejects.toThrow(/code 7/);
  });

  it("share calls over several connections where they may be started more than once (E40)", async () => {
    const host = await started({ servers: { a: { ...(await stdioServer("a")), connections: 2 } } });
    expect(await eventually(() => host.status()["a"]?.connections === 2)).toBe(true);
    const [end, later] = [new AbortController(), new AbortController()];
    const first = host.call("a__wait", {}, { signal: end.signal }).catch(() => {});
    const idle = Number(await host.call("a__pid"));
    const second = host.call("a__wait", {}, { signal: later.signal }).catch(() => {});
    end.abort();
    await first;
    expect(Number(await host.call("a__pid"))).not.toBe(idle);
    process.kill(idle, "SIGKILL");
    await second;
    expect(await host.call("a__whoami")).toBe("a");
    expect(await eventually(() => host.status()["a"]?.connections === 2)).toBe(true);
  });

  it("get no more calls than they take, and what is refused says why and when to come again (G15)", async () => {
    const host = await started({ servers: { a: { ...(await stdioServer("a")), concurrency: 1, queue: 1 } } });
    const end = new AbortController();
    const calls = [1, 2, 3].map(() =>
      host.call("a__wait", {}, { signal: end.signal }).catch((error: unknown) => error),
    );
    expect(await calls[2]).toMatchObject({ kind: "limit_exceeded", data: { retryAfterMs: expect.any(Number) } });
    expect(host.status()["a"]?.calls).toEqual({ running: 1, waiting: 1, refused: 1 });
    end.abort();
    await Promise.all(calls);
    expect(await host.call("a__whoami")).toBe("a");
  });

  it("are not believed unless they are trusted: hints decide neither consent nor sending again (D19)", async () => {
    const host = await started({
      servers: { a: localServer("a"), b: { server: localServer("b"), trust: "trusted" } },
    });
    expect(host.hints("a__whoami")).toEqual({ readOnly: false, destructive: true, idempotent: false, openWorld: true });
    expect(host.hints("b__whoami")).toMatchObject({ readOnly: true, destructive: false });
  });

  it.each(["untrusted", "trusted"] as const)(
    "that are %s get a lost call that they call harmless again only if they are trusted (G09)",
    { timeout: 60_000 },
    async (trust) => {
      const host = await started({ servers: { a: { ...(await stdioServer("a")), trust } } });
      const pid = Number(await host.call("a__pid"));
      process.kill(pid, "SIGSTOP");
      const lost = host.call("a__whoami").catch((error: unknown) => error);
      expect(await eventually(() => host.status()["a"]?.calls.running === 1)).toBe(true);
      process.kill(pid, "SIGKILL");
      if (trust === "trusted") expect(await lost).toBe("a");
      else expect(await lost).toMatchObject({ kind: "connection_closed" });
      expect(await host.call("a__whoami")).toBe("a");
    },
  );

  it("that leave calls without an answer get none for a while, and those are refused with a hint (G13)", async () => {
    const circuit = { failures: 2, openMs: 600_000 };
    const host = await started({ servers: { a: await stdioServer("a"), b: localServer("b") }, circuit });
    for (const _call of [1, 2]) {
      const late = host.call("a__wait", {}, { timeouts: { totalMs: 20 } });
      await expect(late).rejects.toMatchObject({ kind: "timeout" });
    }
    expect(host.status()["a"]?.circuit).toBe("open");
    await expect(host.call("a__whoami")).rejects.toMatchObject({
      kind: "limit_exceeded",
      fix: expect.any(String),
      data: { retryAfterMs: expect.any(Number) },
    });
    expect(await host.call("b__whoami")).toBe("b");
    await host.restart("a");
    expect(await host.call("a__whoami")).toBe("a");
  });

  it("that stop answering are restarted by the watchdog (G13)", async () => {
    const host = await started({
      servers: { a: await stdioServer("a") },
      health: { intervalMs: 50, deadlineMs: 200, failures: 2 },
    });
    const pid = Number(await host.call("a__pid"));
    process.kill(pid, "SIGSTOP");
    expect(await eventually(() => (host.status()["a"]?.restarts ?? 0) > 0)).toBe(true);
    expect(Number(await host.call("a__pid"))).not.toBe(pid);
    expect(await eventually(() => !isRunning(pid))).toBe(true);
  });
});
