import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Host } from "@parley/mcp/host";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { freePort } from "../free-port.js";
import { eventually } from "../stdio/processes.js";
import { httpServer, localServer, QUICK, stdioServer } from "./servers/hosted-servers.js";

const folder = mkdtempSync(join(tmpdir(), "parley-host-"));
const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("a host with ten servers, three of them broken", () => {
  it("has seven at once, explains the three, and gets them when they recover (A02)", { timeout: 120_000 }, async () => {
    const exits = join(folder, "exits");
    const hangs = join(folder, "hangs");
    const port = await freePort();
    const [one, two] = [await httpServer("http1"), await httpServer("http2")];
    opened.push(one, two);
    const host = new Host({
      servers: {
        stdio1: await stdioServer("stdio1"),
        stdio2: await stdioServer("stdio2"),
        stdio3: await stdioServer("stdio3"),
        http1: { url: one.url },
        http2: { url: two.url },
        memory1: localServer("memory1"),
        memory2: { server: localServer("memory2"), trust: "trusted" },
        exits: await stdioServer("exits", "exits-until", exits),
        hangs: { ...(await stdioServer("hangs", "hangs-until", hangs)), startMs: 1500 },
        refused: { url: `http://127.0.0.1:${port}/mcp` },
      },
      restarts: QUICK,
      startWaitMs: 30_000,
    });
    opened.push(host);
    await host.start();

    const good = ["http1", "http2", "memory1", "memory2", "stdio1", "stdio2", "stdio3"];
    const ready = () => Object.entries(host.status()).filter(([, { state }]) => state === "ready");
    expect(
      ready()
        .map(([name]) => name)
        .sort(),
    ).toEqual(good);
    expect(await Promise.all(good.map((name) => host.call(`${name}__whoami`)))).toEqual(good);
    expect(
      host
        .resources()
        .map(({ uri }) => uri)
        .sort(),
    ).toEqual(good.map((name) => `${name}+note://one`));
    expect(await host.readResource("stdio1+note://one")).toMatchObject({ contents: [{ text: "note of stdio1" }] });
    expect(await host.getPrompt("http1__greet", { who: "Ada" })).toMatchObject({
      messages: [{ content: { text: "greet Ada from http1" } }],
    });

    const { exits: ended, hangs: silent, refused } = host.status();
    expect(ended?.lastError).toMatchObject({ kind: "connect_failed", message: expect.stringContaining("code 3") });
    expect(silent?.lastError?.message).toMatch(/1500 ms|in time|deadline/);
    expect(refused?.lastError).toMatchObject({ kind: "connect_failed", fix: expect.any(String) });
    await expect(host.callTool("exits__whoami")).rejects.toMatchObject({ kind: "invalid_params" });

    writeFileSync(exits, "");
    writeFileSync(hangs, "");
    opened.push(await httpServer("refused", port));
    expect(await eventually(() => ready().length === 10, 60_000)).toBe(true);
    expect(await Promise.all(["exits", "hangs", "refused"].map((name) => host.call(`${name}__whoami`)))).toEqual([
      "exits",
      "hangs",
      "refused",
    ]);
  });

  it("has the good ones while another one hangs, and need not have started", async () => {
    const http = await httpServer("http");
    opened.push(http);
    const host = new Host({
      servers: {
        hangs: { ...(await stdioServer("hangs", "hangs-until", join(folder, "never"))), startMs: 60_000 },
        stdio: await stdioServer("stdio"),
        http: { url: http.url },
        memory: localServer("memory"),
      },
      startWaitMs: 60_000,
      waitMs: 30_000,
    });
    opened.push(host);
    let hasStarted = false;
    const starting = host.start().finally(() => {
      hasStarted = true;
    });
    const good = ["stdio", "http", "memory"];
    await Promise.all(good.map((name) => host.ready(name)));
    expect(await Promise.all(good.map((name) => host.call(`${name}__whoami`)))).toEqual(good);
    expect([hasStarted, host.status()["hangs"]?.state]).toEqual([false, "starting"]);
    await host.close();
    await starting;
  });
});
