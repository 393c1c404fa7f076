import { connect, Server } from "@parley/mcp";
import { serveSocket, socketTransport } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import type { Target } from "../../src/client/connect.js";
import { event, json, result, scriptedServer, stream } from "../http-client/scripted-server.js";
import { until } from "../http-client/virtual-time.js";
import { kept } from "./kept-open.js";
import { greetsIn, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const node = (program: string): Target => ({ command: process.execPath, args: ["-e", program] });
const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("it must fail"),
    (error: unknown) => error,
  );

/** A server program that answers the handshake, and each call by the function `call(id)`. */
const serverProgram = (call: string) => `
  const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const serverInfo = { name: "s", version: "1" };
    if (method === "initialize") say({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
    else if (method === "server/discover") say({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
    else if (id !== undefined) (${call})(id, say);
  });
  setInterval(() => {}, 1000);
`;

describe("`connect` ends at its deadline, and by its signal", () => {
  it("LIFE-09: and never cancels `initialize`", async () => {
    const server = scriptedPipe(() => {});
    await failure(connect(server, { revisions: [STATEFUL], timeouts: { connectMs: 50 } }));
    const controller = new AbortController();
    const connecting = failure(connect(server, { revisions: [STATEFUL], signal: controller.signal }));
    await until(() => server.methods().length === 2);
    controller.abort();
    await connecting;
    expect(server.methods()).toEqual(["initialize", "initialize"]);
  });
});

describe("a server that answers every round with state and no question", () => {
  const round = { resultType: "input_required", requestState: "s" };

  it("ends the call by `maxRounds` on a pipe", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateless", message, pipe)) pipe.answer(message, round);
    });
    const client = kept(await connect(server));
    expect(await failure(client.callTool("t"))).toMatchObject({
      kind: "limit_exceeded",
      fix: expect.stringContaining("maxRounds"),
    });
  });

  it("and over HTTP", async () => {
    const server = kept(
      await scriptedServer((request, response) => {
        if (request.message?.method === "server/discover")
          return json(response, result(request, { supportedVersions: [STATELESS], capabilities: { tools: {} } }));
        stream(response);
        response.end(event(result(request, round)));
      }),
    );
    const client = kept(await connect(server.url, { maxRounds: 5 }));
    expect(await failure(client.callTool("t"))).toMatchObject({ kind: "limit_exceeded" });
    expect(server.requests).toHaveLength(7);
  });
});

describe("an answer over the size limit ends its call at once, as `oversized_frame`", () => {
  const big = (id: string, order = "") =>
    `(id, say) => say(${order === "result first" ? `{ result: { x: "y".repeat(50000) }, jsonrpc: "2.0", id: ${id} }` : `{ jsonrpc: "2.0", id: ${id}, result: { x: "y".repeat(50000) } }`})`;

  it("of a program, and no other call", async () => {
    const program = serverProgram(`(id, say) => {
      if (globalThis.first === undefined) return void (globalThis.first = id);
      say({ jsonrpc: "2.0", id, result: { x: "y".repeat(50000) } });
      setTimeout(() => say({ jsonrpc: "2.0", id: globalThis.first, result: { content: [] } }), 100);
    }`);
    const client = kept(await connect(node(program), { maxMessageBytes: 10_000 }));
    const small = client.callTool("small");
    expect(await failure(client.callTool("big"))).toMatchObject({
      kind: "oversized_frame",
      fix: expect.stringContaining("maxMessageBytes"),
    });
    expect(await small).toEqual({ content: [] });
  });

  it("of a program that writes the id last: all calls in flight", async () => {
    const client = kept(await connect(node(serverProgram(big("id", "result first"))), { maxMessageBytes: 10_000 }));
    expect(await failure(client.callTool("big"))).toMatchObject({ kind: "oversized_frame" });
  });

  it("not when a notification was too long", async () => {
    const program = serverProgram(`(id, say) => {
      say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "y".repeat(50000) } });
      say({ jsonrpc: "2.0", id, result: { content: [] } });
    }`);
    const client = kept(await connect(node(program), { maxMessageBytes: 10_000 }));
    expect(await client.callTool("t")).toEqual({ content: [] });
  });

  it("over a socket and over HTTP", async () => {
    const served = new Server({ name: "s", version: "1" }).tool("big", {}, () => "y".repeat(50_000));
    const handle = kept(await serveSocket(served, { port: 0 }));
    const port = Number(new URL(handle.url).port);
    const socket = kept(await connect({ makeTransport: () => socketTransport({ port }, { maxMessageBytes: 10_000 }) }));
    expect(await failure(socket.callTool("big" as never))).toMatchObject({ kind: "oversized_frame" });
    const web = kept(
      await scriptedServer((request, response) => {
        const discovery = { supportedVersions: [STATELESS], capabilities: { tools: {} } };
        json(
          response,
          result(request, request.message?.method === "server/discover" ? discovery : { x: "y".repeat(50_000) }),
        );
      }),
    );
    const http = kept(await connect(web.url, { maxMessageBytes: 10_000 }));
    expect(await failure(http.callTool("big"))).toMatchObject({ kind: "oversized_frame" });
  });
});

describe("what a program printed before it failed", () => {
  it("is quoted without characters that a terminal obeys", async () => {
    const program = "console.error('error: \\u001b]0;pwned\\u0007 \\u202e'); process.exit(3)";
    const error = (await failure(connect(node(program)))) as Error;
    expect(error.message).toContain("\\u001b]0;pwned\\u0007 \\u202e");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(error.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});

describe("a program that closed its stdin", () => {
  it("ends the calls of its client at once, with its reason", async () => {
    const program = serverProgram(
      "(id, say) => { require('node:fs').closeSync(0); say({ jsonrpc: '2.0', id, result: { content: [] } }); }",
    );
    const client = kept(await connect(node(program), { resend: "never" }));
    await client.callTool("first");
    const error = await failure(
      (async () => {
        // Longer than a test may take.
        for (let nth = 0; nth < 20; nth++) await client.callTool("next", {}, { timeouts: { idleMs: 600_000 } });
      })(),
    );
    expect(error).toMatchObject({ kind: "connection_closed" });
  });
});

describe("close({ drainMs })", () => {
  const slow = () => {
    const ends: (() => void)[] = [];
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateless", message, pipe)) ends.push(() => pipe.answer(message, { content: [] }));
    });
    return { server, ends };
  };

  it("lets calls in flight end, refuses new ones, and then closes", async () => {
    const { server, ends } = slow();
    const client = await connect(server);
    const call = client.callTool("t");
    await until(() => ends.length === 1);
    const closed = client.close({ drainMs: 10_000 });
    expect(await failure(client.callTool("late"))).toMatchObject({ kind: "connection_closed" });
    expect(client.state).toBe("ready");
    ends[0]?.();
    expect(await call).toEqual({ content: [] });
    await closed;
    expect(client.state).toBe("closed");
  });

  it("closes after that time in any case", async () => {
    const { server, ends } = slow();
    const client = await connect(server);
    const call = failure(client.callTool("t"));
    await until(() => ends.length === 1);
    await client.close({ drainMs: 60 });
    expect(await call).toMatchObject({ kind: "connection_closed" });
  });
});
