import { connect, McpError, Server, type Target } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import type { Revision } from "../../src/protocol/revisions.js";
import { json, result, type Script, scriptedServer } from "../http-client/scripted-server.js";
import { STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function scripted(script: Script) {
  const server = await scriptedServer(script);
  open.push(server);
  return server;
}

/** Answers with an error status and a JSON-RPC error of this code in the body. */
const failing =
  (status: number, code: number): Script =>
  (request, response) => {
    response.setHeader("retry-after", "2");
    json(response, { jsonrpc: "2.0", id: request.message?.id, error: { code, message: "not now" } }, status);
  };

const cases = [429, 500, 502, 503].flatMap((status) =>
  [-32600, -32601, -32603, -32000].map((code) => [status, code] as const),
);
const allowed: Record<string, Revision[] | undefined> = {
  "any revision": undefined,
  "a revision with sessions": [STATEFUL],
  "a stateless revision": [STATELESS],
};

describe.each(Object.entries(allowed))(
  "ERA-12: a server that fails while a client connects in %s",
  (_name, revisions) => {
    it.each(cases)("HTTP %i with error %i is a failure of the transport, not of the version", async (status, code) => {
      const server = await scripted(failing(status, code));
      await expect(connect(server.url, revisions === undefined ? {} : { revisions })).rejects.toMatchObject({
        kind: "transport_error",
        message: expect.stringContaining("not now"),
        data: { status, retryAfterMs: 2_000 },
        fix: expect.not.stringContaining("revisions"),
      });
    });
  },
);

describe.each(Object.entries(allowed))("a server that refuses the client, in %s (B10)", (_name, revisions) => {
  it.each([
    ["invalid_request", -32600],
    ["invalid_params", -32602],
  ] as const)("is not said to lack its revision: %s", async (kind, code) => {
    const server = new Server({ name: "choosy", version: "1" });
    server.use((call, next) => {
      if (call.method !== "initialize" && call.method !== "server/discover") return next();
      throw new McpError(kind, "members only");
    });
    await expect(connect(server, revisions === undefined ? {} : { revisions })).rejects.toMatchObject({
      kind,
      code,
      remote: true,
      message: expect.stringMatching(/refused .*: members only$/),
      fix: expect.not.stringContaining("revisions"),
    });
  });
});

it.each([
  [-32602, "Unsupported protocol version"],
  [-32600, "this server speaks revision 2026-07-28"],
  [-32602, "`params._meta` is missing"],
  [-32601, "Method not found"],
])("a handshake that is refused with %i %s is about the revision", async (code, message) => {
  const server = scriptedPipe((request, pipe) => pipe.refuse(request, code, message));
  await expect(connect(server, { revisions: [STATEFUL] })).rejects.toMatchObject({
    kind: "unsupported_version",
    code,
    fix: expect.stringContaining("revisions"),
  });
});

it.each([
  [-32600, "Server not initialized"],
  [-32602, "Mcp-Session-Id header is required"],
  [-32601, "Method not found"],
])("a probe that is refused with %i %s is about the revision, where no other is allowed", async (code, message) => {
  const server = scriptedPipe((request, pipe) => pipe.refuse(request, code, message));
  await expect(connect(server, { revisions: [STATELESS] })).rejects.toMatchObject({ kind: "unsupported_version" });
});

it("ERA-09, ERA-12: 500 with -32601 to the probe leads to the handshake, but 503 is sent nothing more", async () => {
  const serverInfo = { name: "s", version: "1" };
  const [methods, asked]: [string[], Record<number, number>] = [[], {}];
  for (const status of [500, 503]) {
    const server = await scripted((request, response) => {
      asked[status] = (asked[status] ?? 0) + 1;
      const method = request.message?.method ?? request.method;
      methods.push(method);
      if (method === "server/discover") return failing(status, -32601)(request, response);
      if (method === "initialize")
        return json(response, result(request, { protocolVersion: STATEFUL, capabilities: {}, serverInfo }));
      response.writeHead(request.method === "POST" ? 202 : 405).end();
    });
    const connected = connect(server.url);
    if (status === 500) open.push(await connected);
    else await expect(connected).rejects.toMatchObject({ kind: "transport_error" });
  }
  expect(asked[503]).toBe(1);
  expect(methods.slice(0, 2)).toEqual(["server/discover", "initialize"]);
});

const unreachable: [string, () => Target | Server][] = [
  ["a URL", () => "http://127.0.0.1:1/mcp"],
  ["a program", () => ({ command: "no-such-program-here", args: [] })],
  ["a server of this process", () => new Server({ name: "old", version: "1" }, { revisions: ["2025-11-25"] })],
];

it.each(unreachable)("has a frame of the caller in the stack of what failed at %s", async (_what, target) => {
  async function openingFunction(): Promise<unknown> {
    return connect(target(), { revisions: ["2026-07-28"] });
  }
  const error: unknown = await openingFunction().catch((reason: unknown) => reason);
  const { stack = "" } = error instanceof Error ? error : {};
  expect(stack.match(/at .*openingFunction/g)).toHaveLength(1);
});
