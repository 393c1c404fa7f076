import { Server } from "@parley/mcp";
import { Host, type HostOptions } from "@parley/mcp/host";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../stdio/processes.js";
import { localServer, QUICK, stdioServer } from "../servers/hosted-servers.js";
import { writtenServer } from "../servers/written-server.js";

const opened: Host[] = [];

afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

async function started(options: HostOptions): Promise<Host> {
  const host = new Host({ restarts: QUICK, startWaitMs: 30_000, ...options });
  opened.push(host);
  await host.start();
  return host;
}

/** Far less than a call would wait for its server in these tests. */
async function soon(work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve("late"), 10_000);
  });
  const outcome = await Promise.race([work.catch((error: unknown) => error), late]);
  clearTimeout(timer);
  return outcome;
}

describe("calls of a host whose connections are lost", () => {
  it("do not wait for a server that the host has ended", async () => {
    let begun = false;
    const server = new Server({ name: "a", version: "1" }).resource("note://slow", {}, () => {
      begun = true;
      return new Promise<string>(() => {});
    });
    const host = await started({ servers: { a: server, b: localServer("b") }, waitMs: 600_000 });
    const reading = soon(host.readResource("a+note://slow"));
    expect(await eventually(() => begun)).toBe(true);
    await host.close();
    expect(await reading).toMatchObject({ kind: "connection_closed" });
    expect(await soon(host.ready("b"))).toMatchObject({ kind: "connection_closed" });
  });

  it("reach a server that is back, however many of them were lost with it", async () => {
    const host = await started({ servers: { a: await stdioServer("a") } });
    const lost = Array.from({ length: 8 }, () => host.call("a__wait").catch((error: unknown) => error));
    await host.call("a__die").catch(() => {});
    for (const outcome of await Promise.all(lost)) expect(outcome).toMatchObject({ kind: "connection_closed" });
    expect(await host.call("a__whoami")).toBe("a");
    expect(host.status()["a"]?.circuit).toBe("closed");
  });

  it("are told the reason when the server is held", async () => {
    const dying = writtenServer(`
      function handle(id, method) {
        if (method !== "tools/list") return "unknown";
        reply(id, { tools: [tool("one")] });
        setTimeout(() => process.exit(3), 50);
      }`);
    const restarts = { intensity: { restarts: 1, withinMs: 600_000 }, backOff: { firstMs: 10 }, retryMs: 600_000 };
    const host = await started({ servers: { a: dying }, restarts });
    expect(await eventually(() => host.status()["a"]?.state === "failed")).toBe(true);
    const error = await soon(host.call("a__one"));
    expect(error).toMatchObject({ kind: "connection_closed" });
    // Arguments may be secrets.
    expect(String(error)).not.toContain("process.exit");
    expect(String(error)).not.toMatch(/undefined/);
    expect(host.status()["a"]?.lastError?.message).not.toContain("process.exit");
  });

  it("are kept from a connection that answers nothing, while others of its server answer", async () => {
    // The first one that is called stops to answer anything.
    const entry = writtenServer(`
      let silent = false;
      const timer = setInterval(() => {}, 1000);
      function handle(id, method, params) {
        if (method === "tools/list") return reply(id, { tools: [tool("hang"), tool("pid")] });
        if (params.name === "hang") return void process.stdin.pause();
        reply(id, text(process.pid));
      }`);
    const health = { intervalMs: 200, deadlineMs: 200, failures: 2 };
    const host = await started({ servers: { a: { ...entry, connections: 2 } }, health });
    const hung = soon(host.call("a__hang"));
    const calling = setInterval(() => void host.call("a__pid").catch(() => {}), 50);
    expect(await hung).toMatchObject({ kind: "connection_closed" });
    clearInterval(calling);
    expect(host.status()["a"]?.lastError?.message).toContain("pings");
  });

  it("that wait for it have a bound", async () => {
    const hanging = writtenServer("function handle() {}\ncapabilities = undefined;");
    const host = await started({ servers: { a: hanging }, startWaitMs: 1, waitMs: 600_000 });
    const waiting = Array.from({ length: 10_001 }, () => host.ready("a").catch((error: unknown) => error));
    expect(await soon(Promise.race(waiting))).toMatchObject({ kind: "limit_exceeded" });
  });
});
