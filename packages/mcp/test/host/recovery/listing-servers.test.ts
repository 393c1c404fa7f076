import { fetchHandler, Server } from "@parley/mcp";
import { Host, type HostOptions } from "@parley/mcp/host";
import { fakeClock } from "@parley/mcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../stdio/processes.js";
import { localServer, QUICK } from "../servers/hosted-servers.js";
import { writtenServer } from "../servers/written-server.js";

const opened: Host[] = [];

afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

function made(options: HostOptions): Host {
  const host = new Host({ restarts: QUICK, startWaitMs: 30_000, platform: { warn: () => {} }, ...options });
  opened.push(host);
  return host;
}

const names = (host: Host) => host.tools().map(({ name }) => name);

describe("what a server lists", () => {
  it("is not replaced by an older list that arrives later", async () => {
    const a = writtenServer(`
      capabilities = { tools: { listChanged: true }, prompts: {} };
      function handle(id, method, params, count) {
        if (method === "tools/list") {
          reply(id, { tools: [tool(count === 1 ? "old" : "new")] });
          if (count === 1) changed("tools");
          return;
        }
        if (method === "prompts/list") return void setTimeout(() => reply(id, { prompts: [] }), 500);
        return "unknown";
      }`);
    const host = made({ servers: { a } });
    await host.start();
    expect(names(host)).toEqual(["a__new"]);
  });

  it("is asked for again after a list that failed", async () => {
    const a = writtenServer(`
      function handle(id, method, params, count) {
        if (method !== "tools/list") return "unknown";
        if (count === 2) refuse(id, -32603);
        else reply(id, { tools: [tool("t" + count)] });
        if (count < 3) setTimeout(() => changed("tools"), 50);
      }`);
    const host = made({ servers: { a } });
    await host.start();
    expect(await eventually(() => names(host).includes("a__t3"))).toBe(true);
  });

  it("may be less than it declares", async () => {
    const a = writtenServer(`
      capabilities = { tools: {}, prompts: {}, resources: {} };
      function handle(id, method) {
        if (method === "tools/list") return reply(id, { tools: [tool("one")] });
        return "unknown";
      }`);
    const host = made({ servers: { a } });
    await host.start();
    expect(host.status()["a"]).toMatchObject({ state: "ready", tools: 1, prompts: 0, resources: 0 });
  });

  it("is used although the server refuses to tell of changes", async () => {
    const a = writtenServer(`
      const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
      function handle(id, method) {
        if (method === "tools/list") return reply(id, { ...complete, tools: [tool("one")] });
        if (method !== "server/discover") return "unknown";
        const serverInfo = { name: "written", version: "1" };
        reply(id, { ...complete, supportedVersions: ["2026-07-28"], capabilities, serverInfo });
      }`);
    const host = made({ servers: { a } });
    await host.start();
    expect(host.status()["a"]).toMatchObject({ state: "ready", era: "stateless", tools: 1 });
  });

  it("is refreshed for all servers, also when one fails, and for a named one only if it is there", async () => {
    const failing = writtenServer(`
      function handle(id, method, params, count) {
        if (method !== "tools/list") return "unknown";
        if (count > 1) refuse(id, -32603);
        else reply(id, { tools: [] });
      }`);
    const silent = writtenServer(`
      capabilities = { tools: {} };
      function handle(id, method, params, count) {
        if (method !== "tools/list") return "unknown";
        setTimeout(() => reply(id, { tools: [tool("t" + count)] }), count > 1 ? 300 : 0);
      }`);
    const host = made({ servers: { failing, silent, gone: { command: "no-such-program" } } });
    await host.start();
    await expect(host.refresh()).rejects.toMatchObject({ kind: "internal_error" });
    expect(names(host)).toEqual(["silent__t2"]);
    await expect(host.refresh("gone")).rejects.toThrow("was not found");
  });

  it("is known before the first of its connections counts as ready", async () => {
    const entry = writtenServer(`
      function handle(id, method) {
        if (method !== "tools/list") return "unknown";
        setTimeout(() => reply(id, { tools: [tool("one")] }), 500);
      }`);
    const seen: number[] = [];
    const host = made({ servers: { a: { ...entry, connections: 3 } } });
    host.on("status", ({ status }) => status.state === "ready" && seen.push(status.tools));
    await host.start();
    expect(host.status()["a"]).toMatchObject({ state: "ready", connections: 3, tools: 1 });
    expect(seen[0]).toBe(1);
  });

  it("is heard from another connection when the one that tells of changes ends", async () => {
    const entry = writtenServer(`
      let listed = false, more = [];
      function handle(id, method, params) {
        if (method === "tools/list") {
          listed = true;
          return reply(id, { tools: [tool("die"), tool("more"), ...more] });
        }
        if (method !== "tools/call") return "unknown";
        if (params.name === "die") return listed ? process.exit(1) : void setTimeout(() => reply(id, text("no")), 300);
        more = [tool("late")];
        changed("tools");
        reply(id, text("done"));
      }`);
    const never = { backOff: { firstMs: 600_000, longestMs: 600_000 } };
    const host = made({ servers: { a: { ...entry, connections: 2 } }, restarts: never });
    await host.start();
    await Promise.allSettled([host.call("a__die"), host.call("a__die")]);
    expect(await eventually(() => host.status()["a"]?.connections === 1)).toBe(true);
    await host.call("a__more");
    expect(await eventually(() => names(host).includes("a__late"))).toBe(true);
  });

  it("is not replaced by what an earlier run saved", async () => {
    let text: string | undefined;
    const save = (saved: string) => {
      text = saved;
    };
    const first = made({ servers: { a: localServer("a") }, catalogue: { load: () => undefined, save } });
    await first.start();
    await first.close();
    let load = (_text: string | undefined) => {};
    const loaded = new Promise<string | undefined>((resolve) => (load = resolve));
    const server = localServer("a").tool("more", {}, () => "");
    const host = made({ catalogue: { load: () => loaded, save: () => {} } });
    const starting = host.start();
    const added = host.add("a", server);
    setTimeout(() => load(text), 300);
    await Promise.all([starting, added]);
    expect(host.status()["a"]?.stale).toBe(false);
    expect(names(host)).toContain("a__more");
  });

  it("must come within `startMs` also where connections may log in", async () => {
    const clock = fakeClock();
    let asked = 0;
    const server = new Server({ name: "s", version: "1" }).tool("t", {}, () => "");
    server.use((call, next) => {
      if (call.method !== "tools/list") return next();
      asked++;
      return new Promise<never>(() => {});
    });
    const handler = fetchHandler(server);
    const host = new Host({
      servers: { s: { url: "http://127.0.0.1:9/mcp", startMs: 5_000 } },
      auth: () => ({ authorize: (sender) => sender }),
      client: {
        fetch: (input, init) => handler(new Request(input, init)),
      },
      startWaitMs: 1,
      health: false,
      platform: { ...clock.platform, warn: () => {} },
    });
    opened.push(host);
    void host.start();
    expect(await eventually(() => asked === 1)).toBe(true);
    await clock.advance(4_000);
    expect(host.status()["s"]?.lastError).toBeUndefined();
    await clock.advance(1_000);
    const lastError = () => host.status()["s"]?.lastError?.message;
    expect(await eventually(() => lastError() !== undefined)).toBe(true);
    expect(lastError()).toBe('the server "s" did not return its lists within 5000 ms');
  });
});
