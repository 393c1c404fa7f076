import { connect, McpError, Server } from "@parley/mcp";
import { afterAll, describe, expect, it } from "vitest";
import { ERROR_KINDS, type ErrorKind } from "../../src/protocol/error.js";
import { event, json, result, type Script, scriptedServer, stream } from "../http-client/scripted-server.js";
import { greetsIn, type PipeScript, STATEFUL, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterAll(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function piped(script: PipeScript, options: Parameters<typeof connect>[1] = {}) {
  const server = scriptedPipe((message, pipe, connection) => {
    if (!greetsIn("stateless", message, pipe)) script(message, pipe, connection);
  });
  const client = await connect(server, options);
  open.push(client);
  return client;
}

const refusing = async (code: number, data?: unknown) =>
  (await piped((message, pipe) => pipe.refuse(message, code, "because", data))).callTool("x");

/** A stateful HTTP server in a session that answers calls as `script` says. */
async function served(script: Script) {
  const server = await scriptedServer((request, response) => {
    const { message } = request;
    if (message?.method === "initialize") {
      const serverInfo = { name: "s", version: "1" };
      const greeting = { protocolVersion: STATEFUL, capabilities: { tools: {} }, serverInfo };
      return json(response, result(request, greeting), 200, { "mcp-session-id": "s1" });
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (message?.id === undefined) return void response.writeHead(202).end();
    return script(request, response);
  });
  open.push(server);
  const client = await connect(server.url, { revisions: [STATEFUL], resend: "never" });
  open.push(client);
  return client;
}

const status = async (code: number, headers: Record<string, string> = {}) =>
  (await served((_request, response) => void response.writeHead(code, headers).end())).callTool("x");

const unusable = { name: "t", inputSchema: { type: "object" }, outputSchema: { type: "nonsense" } };

/** How each kind of error comes about at a client. */
const provocations: Partial<Record<ErrorKind, () => Promise<unknown>>> = {
  parse_error: () => refusing(-32700),
  invalid_request: () => refusing(-32600),
  method_not_found: () => refusing(-32601),
  invalid_params: () => refusing(-32602),
  internal_error: () => refusing(-32603),
  resource_not_found: () => refusing(-32002),
  header_mismatch: () => refusing(-32020),
  url_elicitation_required: () => refusing(-32042, { elicitations: [] }),
  declined: () => refusing(-1),
  peer_error: () => refusing(4711),
  capability_missing: async () => (await piped(() => {})).subscribe({}),
  unsupported_version: () =>
    connect(new Server({ name: "s", version: "1" }, { revisions: ["2026-07-28"] }), { revisions: [STATEFUL] }),
  limit_exceeded: async () =>
    (await piped((message, pipe) => pipe.answer(message, { tools: [], nextCursor: "x" }))).allTools(),
  timeout: async () => (await piped(() => {})).callTool("x", {}, { timeouts: { idleMs: 10 } }),
  cancelled: async () => (await piped(() => {})).callTool("x", {}, { signal: AbortSignal.timeout(5) }),
  connection_closed: async () => (await piped((_message, pipe) => pipe.end())).callTool("x"),
  connect_failed: () => connect("http://127.0.0.1:1/mcp"),
  session_lost: () => status(404),
  transport_error: () => status(500),
  auth_required: () => status(401),
  insufficient_scope: () => status(403, { "www-authenticate": 'Bearer error="insufficient_scope"' }),
  invalid_response: () => status(202),
  oversized_frame: async () =>
    (
      await served((request, response) => {
        stream(response);
        response.write(event(result(request, "x".repeat(17 * 1024 * 1024))));
      })
    ).callTool("x"),
  invalid_schema: async () => {
    const client = await piped((message, pipe) =>
      pipe.answer(message, { tools: [unusable], content: [], structuredContent: {} }),
    );
    await client.listTools();
    return client.callTool("t");
  },
  invalid_definition: () =>
    connect(new Server({ name: "s", version: "1" }), { roots: [{ uri: "https://example.com" }] }),
  tool_error: async () =>
    (await piped((message, pipe) => pipe.answer(message, { content: [], isError: true }))).call("x"),
  unsupported: () => connect({ command: "anything" }, { platform: { spawn: undefined } as never }),
};

/** Kinds that arise elsewhere, with the reason. */
const elsewhere: Partial<Record<ErrorKind, string>> = {
  dismissed: "a server's handler sees it",
  question_changed: "a server's handler sees it",
  too_many_questions: "a server's handler sees it",
  decode_error: "reported as a fault of the transport, never as the outcome of a call",
};

describe("every kind of error that a client can see", () => {
  for (const [kind, provoke] of Object.entries(provocations)) {
    it(`${kind} says what happened and what to change`, async () => {
      const error = await provoke().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(McpError.is(error)).toBe(true);
      expect(error).toMatchObject({ kind, message: expect.stringMatching(/\S/) });
      expect((error as McpError).fix).toMatch(/^[A-Z].{15,}[.]$/s);
    });
  }

  it("no kind is without a provocation or a reason", () => {
    const known = [...Object.keys(provocations), ...Object.keys(elsewhere)];
    // Kinds of server-side features may be added; what a client can see is listed above.
    expect(known.filter((kind) => !ERROR_KINDS.includes(kind as ErrorKind))).toEqual([]);
    const missing = ERROR_KINDS.filter((kind) => !known.includes(kind));
    if (missing.length > 0) console.log(`kinds that no client test provokes: ${missing.join(", ")}`);
  });

  it("BASE-35: what the peer sent can be told from what arose here", async () => {
    await expect(refusing(-32603)).rejects.toMatchObject({ remote: true, code: -32603 });
    const client = await piped(() => {});
    await expect(client.callTool("x", {}, { timeouts: { idleMs: 5 } })).rejects.toMatchObject({ remote: false });
  });

  it("pain 53: errors of another copy of the package are recognised by their brand", () => {
    const foreign = new Error("from elsewhere");
    Object.defineProperty(foreign, Symbol.for("@parley/mcp/error"), { value: true });
    expect(McpError.is(foreign)).toBe(true);
    expect(McpError.is(new Error("plain"))).toBe(false);
  });
});
