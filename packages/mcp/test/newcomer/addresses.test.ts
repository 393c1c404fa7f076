import { request } from "node:http";
import { connect, McpError, Server } from "@parley/mcp";
import { type ServeHttpOptions, serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { answering, type Cleanup } from "../errors/parts.js";
import { errorOf, expectTold, loosely } from "./told.js";

const closing: (() => unknown)[] = [];
const cleanup: Cleanup = (close) => void closing.push(close);
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function shop(options: ServeHttpOptions = {}): Promise<URL> {
  const server = new Server({ name: "shop", version: "1" })
    .tool("list_notes", () => "none")
    .tool("big", () => "x".repeat(17 * 1024 * 1024))
    .tool("slow", () => new Promise<string>(() => {}))
    .prompt("review", {}, () => "");
  const handle = await serveHttp(server, { port: 0, ...options });
  cleanup(() => handle.close());
  return new URL(handle.url);
}

const SCHEME = "Include the scheme, for example `http://localhost:3000/mcp`.";
const HOST = "Include the scheme, for example `https://host/mcp`.";
const SOCKET = "Pass `webSocketTransport(address)` of `@parley/mcp/transport` to `connect`.";
const PATH = "Check the path of the address; MCP servers often listen at `/mcp`.";
const NOTHING = "Pass a URL, `{ command, args }`, a Server or a transport.";

describe("an address", () => {
  it.each([
    ["localhost:3000/mcp", '"localhost:3000/mcp" has the scheme localhost:, not http: or https:', SCHEME],
    ["example.com/mcp", '"example.com/mcp" is not a valid URL', HOST],
    ["", '"" is not a valid URL', HOST],
    ["ws://localhost:3000", '"ws://localhost:3000" has the scheme ws:, not http: or https:', SOCKET],
    ["wss://localhost:3000", '"wss://localhost:3000" has the scheme wss:, not http: or https:', SOCKET],
    [
      "http://ada:secret@localhost:3000/mcp",
      "the address contains credentials",
      "Move them into `headers` as `authorization`.",
    ],
    [
      "http://127.0.0.1:1/mcp",
      "nothing is listening at http://127.0.0.1:1/mcp (ECONNREFUSED)",
      "Check that the server runs and that host, port and certificate are right; nothing was sent.",
    ],
  ])("%s is refused with the reason", (address, message, fix) =>
    expectTold(() => connect(address), { kind: "connect_failed", message, fix }),
  );

  it("with a host that does not exist is refused with what to check", async () => {
    const error = await connect("http://nobody.invalid/mcp").catch(McpError.from);
    expect(error).toMatchObject({
      kind: "connect_failed",
      message: expect.stringContaining("nobody.invalid"),
      fix: "Check the name of the host and the network of this machine; nothing was sent.",
    });
  });

  it.each([[undefined], [null], [3000], [{}]])("%j is refused: it leads nowhere", (address) =>
    expectTold(() => connect(loosely(address)), {
      kind: "connect_failed",
      message: "there is nothing to connect to",
      fix: NOTHING,
    }),
  );

  it.each(["/mpc", "/", "/mcp/", "/MCP"])("with the path %s is refused with the right one, once", async (path) => {
    const { origin } = await shop();
    await expectTold(() => connect(`${origin}${path}`), {
      kind: "connect_failed",
      message: `${origin}${path} could not be reached: initialize to ${origin}${path} was answered with HTTP 404: {"error":"not found; the MCP endpoint is /mcp"}; the older HTTP+SSE transport fails in the same way`,
      fix: PATH,
    });
  });

  it("with https where the server has no TLS is refused with what to write", async () => {
    const { host } = await shop();
    await expectTold(() => connect(`https://${host}/mcp`), {
      kind: "connect_failed",
      message: `server/discover could not reach https://${host}/mcp: the server does not use TLS on this port`,
      fix: "Write `http://` in place of `https://`, or pass the port that has TLS.",
    });
  });

  it("of a web page is refused", async () => {
    const url = await answering(cleanup, 200, { "content-type": "text/html" }, "<h1>Hello</h1>");
    await expectTold(() => connect(url), {
      kind: "invalid_response",
      message: `${url} answered initialize with text/html, which is neither JSON nor an event stream`,
      fix: "Check that the address is that of an MCP server; if it is, report this to its author.",
    });
  });

  it("that another program listens on is refused to a second server", async () => {
    const { port } = await shop();
    await expectTold(() => serveHttp(new Server({ name: "second", version: "1" }), { port: Number(port) }), {
      kind: "connect_failed",
      message: `The server cannot listen on 127.0.0.1 port ${port}: EADDRINUSE`,
      fix: "Stop the other program, or choose another `port`; 0 picks a free one.",
    });
  });

  it("under another name of the host is refused with the option that admits it", async () => {
    const { port } = await shop();
    const headers = { host: "notes.example.com", "content-type": "application/json" };
    const body = await new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, (response) => {
        expect(response.statusCode).toBe(403);
        response.setEncoding("utf8").on("data", (text: string) => resolve(JSON.parse(text)));
      });
      sent.on("error", reject).end("{}");
    });
    const fix = "Set `allowedHosts` or `publicUrl` if clients are meant to use this address.";
    const message = `the Host header "notes.example.com" is not allowed. ${fix}`;
    expect(body).toMatchObject({ error: { code: -32600, message, data: { header: "Host", fix } } });
  });
});

describe("a web page", () => {
  const post = { method: "POST", body: "{}" };
  const preflight = { method: "OPTIONS" };

  it.each([
    ["sends a message from elsewhere", post, "https://app.example.com", "`allowedOrigins`, `cors` or `publicUrl`"],
    ["asks first from elsewhere", preflight, "https://app.example.com", "`allowedOrigins`, `cors` or `publicUrl`"],
    ["asks first from the same machine", preflight, "http://localhost:5173", "`cors.origins`"],
  ])("that %s is refused with the option that admits it", async (_what, init, origin, option) => {
    const headers = { origin, "content-type": "application/json", "access-control-request-method": "POST" };
    const response = await fetch(await shop(), { ...init, headers });
    expect(response.status).toBe(403);
    const fix = `Set ${option} if clients are meant to use this address.`;
    const message = `the Origin header "${origin}" is not allowed. ${fix}`;
    expect(await response.json()).toMatchObject({ error: { message, data: { header: "Origin", fix } } });
  });

  it.each([["*"], ["https://app.example.com/"], ["https://app.example.com"]])(
    "is let in by `cors: { origins: [%j] }`",
    async (listed) => {
      const url = await shop({ cors: { origins: [listed] } });
      const headers = { origin: "https://app.example.com", "access-control-request-method": "POST" };
      const response = await fetch(url, { method: "OPTIONS", headers });
      const allowed = listed === "*" ? "*" : "https://app.example.com";
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([204, allowed]);
    },
  );
});

describe("a call over HTTP", () => {
  const NAMES = "Compare the name and the arguments with the server's list.";

  it.each(["2025-11-25", "2026-07-28"] as const)("by a wrong name is told the nearest one, in %s", async (revision) => {
    const client = await connect((await shop()).href, { revisions: [revision] });
    cleanup(() => client.close());
    const unknown = (message: string) => ({ kind: "invalid_params", message, fix: NAMES });
    await expectTold(
      () => client.callTool("list_note"),
      unknown('unknown tool: list_note; did you mean "list_notes"?'),
    );
    await expectTold(() => client.call("zebra"), unknown("unknown tool: zebra"));
    await expectTold(() => client.getPrompt("reviw"), unknown('unknown prompt: reviw; did you mean "review"?'));
  });

  it("whose result is huge is told the limit", async () => {
    const client = await connect((await shop()).href);
    cleanup(() => client.close());
    await expectTold(() => client.call("big"), {
      kind: "oversized_frame",
      message: "the answer to tools/call is too long: the body is longer than 16777216 bytes",
      fix: "Ask for less at once, or raise `maxMessageBytes` of `connect`.",
    });
  });

  it.each(["idle", "total"] as const)("of a slow tool is told the %s deadline", async (deadline) => {
    const client = await connect((await shop()).href, { timeouts: { [`${deadline}Ms`]: 50 } });
    cleanup(() => client.close());
    await expectTold(() => client.call("slow"), {
      kind: "timeout",
      message: `tools/call passed its ${deadline} deadline of 50 ms; no message arrived`,
      fix: `Raise \`timeouts.${deadline}Ms\`, for this call or in \`connect\`, or let the server report progress.`,
    });
  });

  it("after `close` is refused", async () => {
    const client = await connect((await shop()).href);
    await client.close();
    const told = { kind: "connection_closed", message: "the client is closed", fix: "Call `connect` again." };
    await expectTold(() => client.call("list_notes"), told);
    await expectTold(() => client.listTools(), told);
  });

  it("that is cancelled is told so", async () => {
    const client = await connect((await shop()).href);
    cleanup(() => client.close());
    const { kind, message, fix } = await errorOf(() => client.call("slow", {}, { signal: AbortSignal.timeout(50) }));
    expect([kind, message]).toEqual(["cancelled", "tools/call was cancelled by its caller"]);
    expect(fix).toBe("Nothing to fix if the cancellation was intended.");
  });
});
