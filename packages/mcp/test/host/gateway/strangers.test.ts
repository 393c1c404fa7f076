import { type Client, connect, McpError, type Server, type ServerOptions } from "@parley/mcp";
import { Host, type HostEntry, remoteServer } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";
import { bundleFixture } from "../../stdio/bundle-fixture.js";
import { failingServer, SECRET } from "./failing-server.js";

const program = bundleFixture(new URL("./failing-program.ts", import.meta.url));
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const later = <T extends { close(): Promise<unknown> }>(closable: T): T => {
  closers.push(() => closable.close());
  return closable;
};

/** A client that gave its name, and may therefore be anybody. */
async function stranger(front: Server, revision: string, extensions: Parameters<typeof connect>[1] = {}) {
  const { url } = later(await serveHttp(front, { port: 0, authenticate: () => ({ key: "anybody" }) }));
  const options = { revisions: [revision], ...extensions } as Parameters<typeof connect>[1];
  return later(await connect(url as string, options)) as Client;
}

async function gateway(entry: HostEntry, server: ServerOptions = {}, revision: string = NEWEST_STATELESS) {
  const host = later(
    new Host({
      servers: { s: { ...("endpoint" in entry ? { server: entry } : entry), prefix: false } as HostEntry },
      client: { revisions: [revision as never] },
      startWaitMs: 60_000,
    }),
  );
  const front = host.asServer({ server: { onError: () => {}, ...server } });
  await host.start();
  return front;
}

const ways: Record<string, (revision: string) => Promise<Server>> = {
  "of this process": (revision) => gateway(failingServer(), {}, revision),
  "of `remoteServer`": async (revision) =>
    later(await remoteServer(failingServer(), { client: { revisions: [revision as never] } })),
  "on a pipe": async (revision) => gateway({ command: process.execPath, args: [await program] }, {}, revision),
  "over HTTP": async (revision) => {
    const { url } = later(await serveHttp(failingServer(), { port: 0 }));
    return gateway({ url: url as string }, {}, revision);
  },
  "behind a second gateway": async (revision) => gateway(await gateway(failingServer(), {}, revision), {}, revision),
};

const ERAS = [NEWEST_STATEFUL, NEWEST_STATELESS];
const CELLS = Object.keys(ways).flatMap((way) => ERAS.map((revision) => [way, revision] as const));

describe.each(CELLS)("a failing server %s, in %s", (way, revision) => {
  it("gives strangers no text of unexpected errors", async () => {
    const client = await stranger(await (ways[way] as (typeof ways)[string])(revision), revision);
    const failed = await client.callTool("fail" as never);
    expect(JSON.stringify(failed)).not.toContain("hunter2");
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: /^internal error \(id [\w-]+\)$/ }].map(matching),
    });
    for (const call of [client.readResource("note://fail"), client.getPrompt("fail" as never)]) {
      const error = await call.catch(McpError.from);
      expect(error).toMatchObject({ kind: "internal_error", data: { reference: expect.any(String) } });
      expect(JSON.stringify([(error as McpError).message, (error as McpError).data])).not.toContain("hunter2");
      expect((error as McpError).message).toMatch(/^internal error \(id [\w-]+\)$/);
    }
  });

  it("gives strangers what was written for them", async () => {
    const client = await stranger(await (ways[way] as (typeof ways)[string])(revision), revision);
    expect(await client.callTool("refuse" as never)).toMatchObject({ content: [{ text: "this city is unknown" }] });
    expect(await client.callTool("stop" as never)).toMatchObject({ content: [{ text: "the station is slow" }] });
  });

  it("gives callers of this machine the text", async () => {
    const front = await (ways[way] as (typeof ways)[string])(revision);
    const client = later(await connect(front, { revisions: [revision as never] })) as Client;
    expect(await client.callTool("fail" as never)).toMatchObject({ content: [{ text: SECRET }] });
    await expect(client.readResource("note://fail")).rejects.toThrow(SECRET);
    await expect(client.getPrompt("fail" as never)).rejects.toThrow(SECRET);
  });
});

function matching({ text }: { text: RegExp }) {
  return { type: "text", text: expect.stringMatching(text) };
}

describe("`maskErrors`", () => {
  it("of the gateway hides texts from everybody, or from nobody", async () => {
    const hidden = await gateway(failingServer(), { maskErrors: true });
    const local = later(await connect(hidden)) as Client;
    expect(await local.callTool("fail" as never)).toMatchObject({
      content: [{ text: expect.stringMatching(/^internal/) }],
    });
    const open = await stranger(await gateway(failingServer(), { maskErrors: false }), NEWEST_STATELESS);
    expect(await open.callTool("fail" as never)).toMatchObject({ content: [{ text: SECRET }] });
    await expect(open.readResource("note://fail")).rejects.toThrow(SECRET);
  });

  it("of the server behind lets everybody have its texts", async () => {
    const client = await stranger(await gateway(failingServer({ maskErrors: false })), NEWEST_STATELESS);
    expect(await client.callTool("fail" as never)).toMatchObject({ content: [{ text: SECRET }] });
    await expect(client.readResource("note://fail")).rejects.toThrow(SECRET);
  });
});

describe.each(ERAS)("a task of a client of %s", (revision) => {
  it("that fails has no text of an unexpected error in its status", async () => {
    const behind = failingServer({ extensions: [tasks()] }).tool("work", { task: "optional" } as never, async () => {
      throw new Error(SECRET);
    });
    const host = later(
      new Host({ servers: { s: { server: behind as Server, prefix: false } }, client: { extensions: [tasks()] } }),
    );
    const front = host.asServer({ server: { extensions: [tasks()], onError: () => {} } });
    await host.start();
    const client = await stranger(front, revision, { extensions: [tasks()] });
    const seen: unknown[] = [];
    const task = await client.startTask("work" as never);
    for await (const status of task) seen.push(status);
    seen.push(await task.result().catch((error: McpError) => [error.message, error.data]));
    expect(JSON.stringify(seen)).toContain("internal error (id ");
    expect(JSON.stringify(seen)).not.toContain("hunter2");
  });
});
