import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";

const children: ChildProcess[] = [];
const open: { close(): Promise<unknown> }[] = [];
let program = "";

beforeAll(async () => {
  program = await bundleFixture(new URL("./fixtures/forgets-to-close.ts", import.meta.url));
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const one of open.splice(0)) await one.close();
});

/** Runs a program that forgets `close` until its call is answered; `isAlive` is settled by its end. */
async function forgetful(words: string[]) {
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const isAlive = once(child, "exit").then(() => false);
  await once(child.stdout, "data");
  return { isAlive };
}

/** Whether the program is still there six seconds after its call. */
async function staysAlive(...words: string[]): Promise<boolean> {
  const { isAlive } = await forgetful(words);
  return Promise.race([isAlive, new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 6000))]);
}

async function url(): Promise<string> {
  const handle = await serveHttp(
    new Server({ name: "there", version: "1" }).tool("hello", {}, () => "hello"),
    { port: 0 },
  );
  open.push(handle);
  return handle.url ?? "";
}

describe.each(["2026-07-28", "2025-11-25"] as const)("a server in the same process, in %s", (revision) => {
  const run = (...words: string[]) => promisify(execFile)(process.execPath, [program, "hang", revision, "", ...words]);

  it("keeps the process alive until a tool's time is up", async () => {
    expect((await run()).stdout).toBe('The tool "hang" did not finish within 100 ms.\n');
  });

  it("does not keep it alive for a tool whose caller is gone", async () => {
    expect((await run("leave")).stdout).toMatch(/closed/);
  });

  it("leaves timers their turn while calls follow each other without a pause", async () => {
    const server = new Server({ name: "busy", version: "1" }).tool("hello", {}, () => "hello");
    const client = await connect(server, { revisions: [revision] });
    open.push(client);
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 1);
    let calls = 0;
    while (!fired && calls < 50_000) {
      await client.call("hello");
      calls++;
    }
    expect(fired).toBe(true);
  });

  it("answers calls while a test's fake timers stand still", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setImmediate"] });
    try {
      const server = new Server({ name: "faked", version: "1" }).tool("hello", {}, () => "hello");
      const client = await connect(server, { revisions: [revision] });
      open.push(client);
      // Longer than one turn of the event loop may go on with deliveries.
      const end = performance.now() + 20;
      do expect(await client.call("hello")).toBe("hello");
      while (performance.now() < end);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a client that is not closed", () => {
  it("lets the process end where nothing stays open: in process, and over HTTP without sessions", async () => {
    for (const words of [
      ["here", "2026-07-28"],
      ["here", "2025-11-25"],
      ["url", "2026-07-28", await url()],
    ]) {
      const { isAlive } = await forgetful(words);
      expect(await isAlive).toBe(false);
    }
  });

  it("keeps it alive where a program, a stream of a session or a subscription is open", async () => {
    const address = await url();
    const alive = await Promise.all([
      staysAlive("command", "2025-11-25"),
      staysAlive("command", "2026-07-28"),
      staysAlive("url", "2025-11-25", address),
      staysAlive("url", "2026-07-28", address, "subscribe"),
    ]);
    expect(alive).toEqual([true, true, true, true]);
  });
});
