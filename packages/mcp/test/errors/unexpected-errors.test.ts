import { createServer } from "node:http";
import { connect, fetchHandler, McpError, Server, type ServerOptions, ToolError } from "@parley/mcp";
import { serveSocket, socketTransport } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";

const SECRET = "connect ECONNREFUSED postgres://admin:hunter2@10.0.0.5/db";
const ERAS = ["2025-11-25", "2026-07-28"] as const;

function raise(thrown: unknown): never {
  throw thrown;
}

/** A server whose offers all fail, with what it reported. */
function failing(options: ServerOptions = {}) {
  const lines: string[] = [];
  const server = new Server(
    { name: "failing", version: "1" },
    { ...options, platform: { warn: (line) => void lines.push(line) } },
  )
    .tool("leak", {}, () => raise(new Error(SECRET)))
    .tool("late", {}, async () => raise(new Error(SECRET)))
    .tool("forModel", {}, () => raise(new ToolError("try Oslo")))
    .tool("protocol", {}, () => raise(new McpError("invalid_params", "no such account")))
    .tool("object", {}, () => raise({ code: 1 }))
    .tool("nothing", {}, () => raise(undefined))
    .tool("text", {}, () => raise("plain words"))
    .resource("a://b", {}, () => raise(new Error(SECRET)))
    .prompt("p", {}, () => raise(new Error(SECRET)));
  return { server, lines };
}

/** A client over HTTP, as the runtime's `fetch` would carry it. */
function overHttp(server: Server<never>, options: Parameters<typeof fetchHandler>[1], revision: (typeof ERAS)[number]) {
  const handler = fetchHandler(server, options);
  return connect("http://127.0.0.1:9/mcp", {
    revisions: [revision],
    fetch: (input: string | URL | Request, init?: RequestInit) => handler(new Request(input, init)),
  } as never);
}

const strangers = { authenticate: () => ({ key: "mallory" }) };

describe("an error that nobody expected", () => {
  it.each(ERAS)("keeps its text for a peer in the same process, in %s, and its stack is printed", async (revision) => {
    const { server, lines } = failing();
    const client = await connect(server, { revisions: [revision] });
    expect((await client.callTool("leak")).content).toEqual([{ type: "text", text: SECRET }]);
    await expect(client.readResource("a://b")).rejects.toThrow(SECRET);
    await expect(client.getPrompt("p")).rejects.toThrow(SECRET);
    await client.close();
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^error [\w-]+ in tools\/call "leak": Error: connect/);
    expect(lines[0]).toContain("unexpected-errors.test.ts");
    expect(lines[1]).toContain('in resources/read "a://b"');
    expect(lines[2]).toContain('in prompts/get "p"');
  });

  it.each(ERAS)("keeps its text on loopback without `authenticate`, in %s", async (revision) => {
    const { server } = failing();
    const client = await overHttp(server as never, {}, revision);
    expect((await client.callTool("late")).content).toEqual([{ type: "text", text: SECRET }]);
    await client.close();
  });

  it.each(ERAS)("is hidden from strangers, in %s, behind the reference that the server prints", async (revision) => {
    const { server, lines } = failing();
    const client = await overHttp(server as never, strangers, revision);
    const outcomes: unknown[] = [await client.callTool("leak"), await client.callTool("late")];
    for (const call of [client.readResource("a://b"), client.getPrompt("p")]) {
      const error = McpError.from(await call.catch((reason: unknown) => reason));
      expect(error.data).toMatchObject({ kind: "handler_error", reference: expect.any(String) });
      outcomes.push({ message: error.message });
    }
    await client.close();
    expect(JSON.stringify(outcomes)).not.toMatch(/hunter2|10\.0\.0\.5/);
    expect(lines).toHaveLength(4);
    outcomes.forEach((outcome, index) => {
      const reference = /internal error \(id ([\w-]+)\)/.exec(JSON.stringify(outcome))?.[1];
      expect(lines[index]).toContain(`error ${reference} in `);
      expect(lines[index]).toContain(SECRET);
    });
  });

  it("is hidden behind a proxy and on an address that strangers reach", async () => {
    const { server } = failing();
    const handler = fetchHandler(server, { allowedHosts: ["mcp.example.com"], allowUnauthenticated: true });
    for (const headers of [{ host: "mcp.example.com" }, { host: "127.0.0.1", "x-forwarded-for": "203.0.113.7" }]) {
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "leak",
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      });
      const request = new Request(`http://${headers.host}/mcp`, {
        method: "POST",
        body,
        headers: {
          ...headers,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "leak",
        },
      });
      const text = await (await handler(request)).text();
      expect(text).toContain("internal error (id ");
      expect(text).not.toContain("hunter2");
    }
  });

  it("is hidden on a socket whose peers are authenticated, and shown on one of this machine", async () => {
    for (const [options, shown] of [
      [strangers, false],
      [{}, true],
    ] as const) {
      const { server } = failing();
      await using handle = await serveSocket(server, { port: 0 }, options);
      const client = await connect(socketTransport(handle.address));
      const { content } = await client.callTool("leak");
      expect(JSON.stringify(content).includes("hunter2")).toBe(shown);
      await client.close();
    }
  });

  it("is shown or hidden to everybody where `maskErrors` says so", async () => {
    const hiding = failing({ maskErrors: true });
    const near = await connect(hiding.server);
    expect(JSON.stringify(await near.callTool("leak"))).not.toContain("hunter2");
    await near.close();
    const far = await overHttp(failing({ maskErrors: false }).server as never, strangers, "2026-07-28");
    expect((await far.callTool("leak")).content).toEqual([{ type: "text", text: SECRET }]);
    await far.close();
  });
});

describe("`ToolError` and `McpError`", () => {
  it("always reach the peer, and are not reported", async () => {
    const { server, lines } = failing();
    const client = await overHttp(server as never, strangers, "2026-07-28");
    expect((await client.callTool("forModel")).content).toEqual([{ type: "text", text: "try Oslo" }]);
    await expect(client.callTool("protocol")).rejects.toThrow("no such account");
    await client.close();
    expect(lines).toEqual([]);
  });
});

describe("`onError`", () => {
  it("gets every unexpected error instead of the log, with what it is about", async () => {
    const seen: unknown[][] = [];
    const { server, lines } = failing({ onError: (...args) => void seen.push(args) });
    const client = await connect(server);
    for (const tool of ["leak", "text", "forModel"] as const) await client.callTool(tool);
    await client.close();
    expect(lines).toEqual([]);
    expect(seen).toEqual([
      [
        new Error(SECRET),
        {
          reference: expect.any(String),
          kind: "handler_error",
          method: "tools/call",
          name: "leak",
          requestId: expect.anything(),
        },
      ],
      ["plain words", expect.objectContaining({ kind: "handler_throw", name: "text" })],
    ]);
  });

  it("may throw or reject without harm", async () => {
    for (const onError of [() => raise(new Error("log down")), () => Promise.reject(new Error("log down"))]) {
      const { server, lines } = failing({ onError });
      const client = await connect(server);
      expect((await client.callTool("leak")).isError).toBe(true);
      await client.close();
      expect(lines).toEqual(["`onError` failed: log down"]);
    }
  });

  it("of an outer server gets the errors of a mounted one that has none", async () => {
    const seen: unknown[] = [];
    const inner = new Server({ name: "inner", version: "1" }).tool("leak", {}, () => raise(new Error(SECRET)));
    const outer = new Server({ name: "outer", version: "1" }, { onError: (error) => void seen.push(error) });
    const client = await connect(outer.mount("in", inner));
    await client.callTool("in_leak");
    await client.close();
    expect(seen).toEqual([new Error(SECRET)]);
  });
});

describe("a question", () => {
  it("that interrupts its handler is not reported", async () => {
    const { server, lines } = failing();
    server.tool("ask", {}, async (_args, ctx) => {
      const reply = await ctx.elicit("sure?", { type: "object", properties: { ok: { type: "boolean" } } });
      return JSON.stringify(reply);
    });
    const onElicit = () => ({ action: "accept" as const, content: { ok: true } });
    const client = await connect(server as Server, { revisions: ["2026-07-28"], onElicit });
    expect((await client.callTool("ask")).content).toEqual([{ type: "text", text: '{"ok":true}' }]);
    await client.close();
    expect(lines).toEqual([]);
  });
});

describe("what is no error", () => {
  it("has a text that says what was thrown", async () => {
    const { server } = failing();
    const client = await connect(server);
    const said = async (tool: "object" | "nothing" | "text") => (await client.callTool(tool)).content;
    expect(await said("object")).toEqual([{ type: "text", text: '{"code":1} was thrown, which is not an error' }]);
    expect(await said("nothing")).toEqual([{ type: "text", text: "undefined was thrown, which is not an error" }]);
    expect(await said("text")).toEqual([{ type: "text", text: "plain words" }]);
    await client.close();
  });
});

describe("observers", () => {
  it("are told how a handler failed: by an error, a thrown value, its time or its caller", async () => {
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const hangs = (_args: object, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const server = failing()
      .server.tool("slow", { timeoutMs: 20 }, hangs)
      .tool("hangs", {}, (args, ctx) => {
        begun();
        return hangs(args, ctx);
      });
    const failures: unknown[] = [];
    server.observe({ ended: ({ name, failure }) => void failures.push([name, failure]) });
    const client = await connect(server, { revisions: ["2026-07-28"] });
    failures.length = 0;
    for (const tool of ["leak", "text", "nothing", "slow", "forModel"] as const) await client.callTool(tool);
    expect(failures).toEqual([
      ["leak", "handler_error"],
      ["text", "handler_throw"],
      ["nothing", "handler_throw"],
      ["slow", "timeout"],
      ["forModel", undefined],
    ]);
    const ended = new Promise((resolve) => server.observe({ ended: resolve }));
    const leave = new AbortController();
    const left = client.callTool("hangs", {}, { signal: leave.signal });
    await running;
    leave.abort();
    await left.catch(() => {});
    expect(await ended).toMatchObject({ failure: "aborted" });
    await client.close();
  });
});

describe("an error of a connection that a handler opened itself", () => {
  /** A server whose offers use a client of their own, to the given address. */
  function relaying(address: string) {
    const lines: string[] = [];
    const use = async (): Promise<never> => {
      await using client = await connect(address, { timeouts: { connectMs: 5_000 } });
      await client.callTool("gone");
      throw new Error("the call must fail");
    };
    const server = new Server(
      { name: "relaying", version: "1" },
      { platform: { warn: (line) => void lines.push(line) } },
    )
      .tool("relay", {}, use)
      .resource("a://b", {}, use);
    return { server, lines };
  }

  /** Addresses of a server that is away, and of some that do not answer as MCP servers do. */
  async function broken() {
    const listen = async (status: number) => {
      const http = createServer((_request, response) =>
        response.writeHead(status, { "www-authenticate": "x" }).end("no"),
      );
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      return http;
    };
    const servers = [await listen(401), await listen(500), await listen(200)];
    const addressOf = (http: (typeof servers)[number]) =>
      `http://127.0.0.1:${(http.address() as { port: number }).port}/secret-path`;
    const close = () => servers.map((http) => http.close());
    return { addresses: ["http://127.0.0.1:1/secret-path", "nowhere", ...servers.map(addressOf)], close };
  }

  it("is unexpected: hidden from strangers, shown on this machine, and reported", async () => {
    const { addresses, close } = await broken();
    for (const address of addresses) {
      const { server, lines } = relaying(address);
      const far = await overHttp(server as never, strangers, "2026-07-28");
      const told = JSON.stringify([
        await far.callTool("relay"),
        await far.readResource("a://b").catch((error: McpError) => [error.message, error.data]),
      ]);
      await far.close();
      expect(told.match(/internal error \(id /g), address).toHaveLength(2);
      expect(told).not.toMatch(/secret-path|nowhere|127\.0\.0\.1/);
      expect(lines.filter((line) => line.includes(address))).toHaveLength(2);
      const near = await connect(server);
      expect(JSON.stringify(await near.callTool("relay"))).toContain(address);
      await near.close();
    }
    close();
  });

  it("reaches the peer if the other server sent it", async () => {
    const inner = new Server({ name: "inner", version: "1" }).tool("other", {}, () =>
      raise(new McpError("internal_error", "the shop is closed")),
    );
    const server = new Server({ name: "outer", version: "1" }).tool("relay", {}, async () => {
      await using client = await connect(inner);
      return await client.call("other");
    });
    const far = await overHttp(server as never, strangers, "2026-07-28");
    await expect(far.callTool("relay")).rejects.toThrow("the shop is closed");
    await far.close();
  });

  it("of a kind that authors throw themselves still reaches the peer", async () => {
    const { server, lines } = failing();
    server.tool("own", {}, () => raise(new McpError("auth_required", "sign in first")));
    const far = await overHttp(server as never, strangers, "2026-07-28");
    await expect(far.callTool("own" as never)).rejects.toThrow("sign in first");
    await far.close();
    await server.close();
    expect(lines).toEqual([]);
  });
});

it.each(ERAS)("what a getter or `toJSON` of a result throws is for the log only, in %s", async (revision) => {
  const lines: string[] = [];
  const server = new Server({ name: "s", version: "1" }, { platform: { warn: (line) => void lines.push(line) } })
    .tool("json", {}, () => ({ toJSON: () => raise(new Error(SECRET)) }) as never)
    .tool("getter", {}, () => ({
      get a(): string {
        return raise(new Error(SECRET));
      },
    }));
  const client = await overHttp(server as never, strangers, revision);
  for (const name of ["json", "getter"]) {
    const told = await client.callTool(name).then(JSON.stringify, (error: McpError) => error.message);
    expect(told).toBe(`the result of tool "${name}" cannot be written as JSON`);
    expect(told).not.toContain("hunter2");
  }
  await client.close();
  expect(lines.filter((line) => line.includes(SECRET))).toHaveLength(2);
});
