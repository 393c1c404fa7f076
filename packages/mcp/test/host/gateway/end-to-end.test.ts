import { type Client, connect } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";
import { bundleFixture } from "../../stdio/bundle-fixture.js";
import { askingServer } from "./asking-server.js";

const program = bundleFixture(new URL("./asking-program.ts", import.meta.url));
const ERAS = [NEWEST_STATEFUL, NEWEST_STATELESS] as const;
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A gateway over HTTP, before a server of its own process or one over HTTP. */
async function gateway(kind: "stdio" | "http", behind: string) {
  const server = kind === "http" ? await serveHttp(askingServer(), { port: 0 }) : undefined;
  if (server !== undefined) closers.push(() => server.close());
  const entry = server === undefined ? { command: process.execPath, args: [await program] } : { url: server.url };
  const host = new Host({
    servers: { s: { ...entry, prefix: false } },
    client: { revisions: [behind as never], extensions: [tasks()] },
    startWaitMs: 30_000,
  });
  const front = host.asServer({ server: { extensions: [tasks({ pollIntervalMs: 20 })] } });
  closers.push(() => host.close());
  await host.start();
  const served = await serveHttp(front, { port: 0 });
  closers.push(() => served.close());
  return async (revision: string, answer: (message: string) => string | Promise<string>) => {
    const client: Client<unknown> = await connect(served.url, {
      revisions: [revision as never],
      extensions: [tasks()],
      onElicit: async ({ message }) => ({ action: "accept", content: { name: await answer(message) } }),
    });
    closers.push(() => client.close());
    // Its tools are known to the server behind only.
    return client as unknown as Client<Record<string, { args: object; result: string }>>;
  };
}

const COMBINATIONS = ["stdio", "http"].flatMap((kind) =>
  ERAS.flatMap((front) => ERAS.map((behind) => [front, kind as "stdio" | "http", behind] as const)),
);

describe.each(COMBINATIONS)("a client of %s over HTTP, a server over %s of %s", (front, kind, behind) => {
  it("asks, reports progress, cancels and runs tasks through the gateway", async () => {
    const open = await gateway(kind, behind);
    const asked: string[] = [];
    const client = await open(front, (message) => {
      asked.push(message);
      return "Ada";
    });
    const progress: (string | undefined)[] = [];
    const value = await client.call("ask", { who: "one" }, { onProgress: ({ message }) => progress.push(message) });
    expect(value).toBe("one is Ada");
    expect(progress).toContain("asking one");
    expect(await client.call("ask-twice")).toBe("Ada Ada");
    expect(asked).toEqual(["name of one?", "first?", "second?"]);

    const stop = new AbortController();
    const waiting = client.call("wait", { who: "me" }, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => client.call("ended")).toBe("me");

    const task = await client.startTask("long");
    expect(await task.result()).toBe("a task for Ada");
    expect(task.id).toEqual(expect.any(String));
    expect(asked.at(-1)).toBe("in a task?");
    const endless = await client.startTask("endless");
    expect(endless.id).toEqual(expect.any(String));
    await endless.cancel();
    await expect.poll(() => client.call("ended")).toBe("me,the task");
  });
});
