import { type Client, type ClientOptions, connect, McpError, resource, Server, type Source, tool } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import { Host } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";

const INFO = { name: "t", version: "1" };
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const quick = () => [tasks({ pollIntervalMs: 20 })];

/** A server with a tool that only runs as a task. */
const slow = () =>
  new Server(INFO, { extensions: quick() }).tool(
    "slow",
    { task: "required" },
    async (_args, ctx) => `task ${await ctx.startTask()}`,
  );

let program = "";
beforeAll(async () => {
  program = await bundleFixture(new URL("../stdio/fixtures/mounted-task.ts", import.meta.url));
});

describe.each(["2025-11-25", "2026-07-28"] as const)("a mounted server, in %s", (revision) => {
  async function client(target: Parameters<typeof connect>[0], options: ClientOptions = {}): Promise<Client> {
    const made = await connect(target, { revisions: [revision], ...options });
    open.push(() => made.close());
    return made as Client;
  }
  async function served(server: Server<object>, scopes?: readonly string[]): Promise<string> {
    const authenticate = scopes && (() => ({ key: "me", scopes }));
    const handle = await serveHttp(server, { port: 0, ...(authenticate && { authenticate }) });
    open.push(() => handle.close());
    return handle.url;
  }
  const outcome = (work: Promise<unknown>) =>
    work.then(
      (value) => value,
      (error: unknown) => (McpError.is(error) ? `${error.kind}: ${error.message}` : error),
    );

  it("and the gateway that it is mounted in both have resources to subscribe to", async () => {
    const behind = new Server(INFO).resource("r:behind", {}, () => "behind");
    const other = new Server(INFO).resource("r:other", {}, () => "other");
    const host = new Host({ servers: { behind } });
    open.push(() => host.close());
    await host.start();
    const one = await client(host.asServer().mount("m", other));
    const uris = (await one.allResources()).map(({ uri }) => uri);
    expect(uris).toEqual([expect.stringContaining("r:behind"), "m+r:other"]);
    for (const [uri, server, inner] of [
      [uris[0] ?? "", behind, "r:behind"],
      ["m+r:other", other, "r:other"],
    ] as const) {
      const subscription = await one.subscribe(uri);
      const next = subscription[Symbol.asyncIterator]().next();
      server.resourceUpdated(inner);
      expect((await next).value).toMatchObject({ uri });
      await subscription[Symbol.asyncDispose]();
    }
  });

  it.each(["HTTP", "stdio"] as const)("has tools that run as tasks, over %s", async (transport) => {
    const outer = new Server(INFO, { extensions: quick() }).mount("m", slow());
    const target = transport === "HTTP" ? await served(outer) : { command: process.execPath, args: [program] };
    const one = await client(target, { extensions: quick() });
    expect(await one.call("m_slow")).toBe("task true");
    const task = await one.startTask("m_slow");
    expect(task.id).toEqual(expect.any(String));
    expect(await task.result()).toBe("task true");
  });

  it.each(["HTTP", "stdio"] as const)(
    "has tools that need tasks refused, over %s, where the outer server has none",
    async (transport) => {
      const outer = new Server(INFO).mount("m", slow());
      const target =
        transport === "HTTP" ? await served(outer) : { command: process.execPath, args: [program, "without"] };
      expect(await outcome((await client(target, { extensions: quick() })).call("m_slow"))).toMatch(
        /the tool "slow" can only run as a task/,
      );
    },
  );

  it("has pages of tools, under the address in the tool's entry", async () => {
    const inner = new Server(INFO, { extensions: [apps()] }).tool(
      "chart",
      { ui: { uri: "ui://chart", html: "<p>a chart</p>" } },
      () => "drawn",
    );
    for (const extensions of [[], [apps()]]) {
      const outer = new Server(INFO, { extensions }).mount("m", inner);
      const one = await client(outer, { extensions: [apps()] });
      const [entry] = await one.allTools();
      const uri = (entry?._meta?.["ui"] as { resourceUri?: string } | undefined)?.resourceUri ?? "";
      expect([entry?.name, uri]).toEqual(["m_chart", "ui://m+chart"]);
      expect(await one.readResource(uri)).toMatchObject({ contents: [{ uri, text: "<p>a chart</p>" }] });
    }
  });

  it("has scopes of its tools demanded by a challenge of HTTP", async () => {
    const inner = new Server(INFO).tool("write", { scopes: ["write"] }, () => "written");
    const url = await served(new Server(INFO).mount("m", inner), ["read"]);
    const response = await raw(url, revision);
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toMatch(/insufficient_scope.*scope="write"/);
    const allowed = await served(new Server(INFO).mount("m", inner), ["write"]);
    expect((await raw(allowed, revision)).status).toBe(200);
  });

  it("has its calls' notifications pass its own middleware, then that of the outer server", async () => {
    const seen: string[] = [];
    const inner = new Server(INFO, { logging: true })
      .tool("work", {}, (_args, ctx) => {
        ctx.progress(1, { message: "half" });
        ctx.progress(2, { message: "drop" });
        ctx.log("info", "working");
        return "done";
      })
      .useNotifications(({ direction, method, params }, next) => {
        seen.push(`inner ${direction} ${method}`);
        const { message } = (params ?? {}) as { message?: string };
        if (message === "drop") return;
        if (message === "half") next({ params: { ...params, message: "HALF" } });
        else next();
      });
    const outer = new Server(INFO, { logging: true })
      .useNotifications(({ direction, method }, next) => {
        if (direction === "outgoing") seen.push(`outer ${direction} ${method}`);
        next();
      })
      .mount("m", inner);
    const logged: unknown[] = [];
    const one = await client(outer, { logLevel: "info", onLog: ({ data }) => void logged.push(data) });
    seen.splice(0);
    const progress: unknown[] = [];
    await one.callTool("m_work", {}, { onProgress: (step) => void progress.push(step) });
    expect(progress).toEqual([expect.objectContaining({ progress: 1, message: "HALF" })]);
    await expect.poll(() => logged).toEqual(["working"]);
    const both = ["notifications/progress", "notifications/message"];
    expect(seen.filter((line) => line.startsWith("outer")).sort()).toEqual(
      both.map((method) => `outer outgoing ${method}`).sort(),
    );
    expect(seen.filter((line) => line.startsWith("inner"))).toEqual([
      "inner outgoing notifications/progress",
      "inner outgoing notifications/progress",
      "inner outgoing notifications/message",
    ]);
    expect(seen.indexOf(`inner outgoing ${both[0]}`)).toBeLessThan(seen.indexOf(`outer outgoing ${both[0]}`));
  });

  it("has unknown names refused by the name that the caller sent", async () => {
    const inner = new Server(INFO)
      .tool("add", () => "3")
      .prompt("hello", {}, () => "hello")
      .resource("r:b", {}, () => "b");
    const one = await client(new Server(INFO).mount("m", inner));
    expect(await outcome(one.callTool("m_sub"))).toMatch(/^invalid_params: unknown tool: m_sub/);
    expect(await outcome(one.getPrompt("m_bye"))).toMatch(/^invalid_params: unknown prompt: m_bye/);
    expect(await outcome(one.readResource("m+r:a"))).toBe("resource_not_found: resource not found: m+r:a");
  });

  it("and offers of its own and of sources stand beside a gateway and a handler object", async () => {
    const source: Source = {
      capabilities: () => ({ tools: {} }),
      list: (kind) => (kind === "tools" ? [tool("sourced", {}, () => "of a source")] : []),
    };
    const host = new Host({ servers: { behind: new Server(INFO).tool("far", () => "far") } });
    open.push(() => host.close());
    await host.start();
    const handler = {
      listTools: () => [{ name: "held", inputSchema: { type: "object" as const } }],
      callTool: (name: string) => name,
    };
    const ends = [
      [host.asServer({ server: { sources: [source] } }), expect.stringContaining("far")],
      [Server.from(handler, INFO, { sources: [source] }), "held"],
    ] as const;
    for (const [server, other] of ends) {
      const one = await client(server.tool("own", () => "own"));
      const names = (await one.allTools()).map(({ name }) => name);
      expect([...names].sort()).toEqual([other, "own", "sourced"].sort());
      for (const name of names) expect((await one.callTool(name)).isError ?? false).toBe(false);
    }
  });

  it("brings the offers of its sources", async () => {
    const source: Source = {
      capabilities: () => ({ resources: {} }),
      list: (kind) => (kind === "resources" ? [resource("r:a", {}, () => "a")] : []),
      page: () => Promise.reject(new Error("the outer server splits the joined list")),
    };
    const one = await client(new Server(INFO).mount("m", new Server(INFO, { sources: [source] })));
    expect((await one.allResources()).map(({ uri }) => uri)).toEqual(["m+r:a"]);
    expect(await one.readResource("m+r:a")).toMatchObject({ contents: [{ uri: "m+r:a", text: "a" }] });
  });
});

/** Calls the tool by a request of its own, after a handshake where the revision has one. */
async function raw(url: string, revision: string): Promise<Response> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": revision,
  };
  const post = (body: object, more: Record<string, string> = {}) =>
    fetch(url, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: "2.0", ...body }) });
  const params = { name: "m_write", arguments: {} };
  const clientInfo = { name: "c", version: "1" };
  if (revision === "2026-07-28") {
    const prefix = "io.modelcontextprotocol";
    const meta = {
      [`${prefix}/protocolVersion`]: revision,
      [`${prefix}/clientInfo`]: clientInfo,
      [`${prefix}/clientCapabilities`]: {},
    };
    return post(
      { id: 1, method: "tools/call", params: { ...params, _meta: meta } },
      { "mcp-method": "tools/call", "mcp-name": "m_write" },
    );
  }
  const opened = await post({
    id: 1,
    method: "initialize",
    params: { protocolVersion: revision, capabilities: {}, clientInfo },
  });
  const session = opened.headers.get("mcp-session-id");
  const more: Record<string, string> = session === null ? {} : { "mcp-session-id": session };
  await post({ method: "notifications/initialized" }, more);
  return post({ id: 2, method: "tools/call", params }, more);
}
