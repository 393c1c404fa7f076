import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "@parley/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { driveEngine, ERAS } from "../engine/opened-engine.js";

const [SESSIONS, STATELESS] = ERAS;

/** What the server sends in place of an answer, by the tool that is called: the media type, and the body for an id. */
const BODIES: Readonly<Record<string, (id: unknown) => readonly [type: string, body: string]>> = {
  "wrong-version": (id) => ["application/json", JSON.stringify({ jsonrpc: "1.0", id, result: {} })],
  "no-json": () => ["application/json", "<h1>It works!</h1>"],
  "wrong-stream": (id) => ["text/event-stream", `data: ${JSON.stringify({ jsonrpc: "2.0", id, error: "no" })}\n\n`],
  page: () => ["text/html", "<h1>Log in</h1>"],
};

describe("what is no answer", () => {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text) as { id?: unknown; method: string; params: { name: string } };
    if (id === undefined) return void response.writeHead(202).end();
    const serverInfo = { name: "odd", version: "1" };
    const results: Record<string, object> = {
      initialize: { protocolVersion: SESSIONS, capabilities: { tools: {} }, serverInfo },
      "server/discover": {
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        supportedVersions: [STATELESS],
        capabilities: { tools: {} },
        _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
      },
    };
    const right = ["application/json", JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} })] as const;
    const [type, body] = (method === "tools/call" ? BODIES[params.name]?.(id) : undefined) ?? right;
    response.writeHead(200, { "content-type": type }).end(body);
  });
  let url = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // It listens on a port, so the address is no path.
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  describe.each(ERAS)("in %s", (revision) => {
    it.each(Object.keys(BODIES))("is told, and shown with its request: %s", async (name) => {
      const target = { kind: "url", shown: url, url, open: (options: object) => connect(url, options) } as const;
      const { act, engine, entries, reaches, when } = driveEngine({ targets: [target], revision });
      const { connection } = await act("connect", { target: "target-1" });
      await reaches(connection, "ready");
      const { call } = await act("call", { connection, request: { kind: "tool", name, arguments: {} } });
      await when(({ calls }) => calls.find(({ id, status }) => id === call && status === "failed"));
      const told = entries().filter(({ kind, label }) => kind === "event" && label.includes("violated the protocol"));
      expect(told.length).toBeGreaterThan(0);
      expect(told.every(({ failed }) => failed)).toBe(true);
      const request = entries().find(({ label, direction }) => label === "tools/call" && direction === "sent");
      const body = () => engine.handlers.entry({ seq: request?.seq ?? 0 });
      const [, expected = ""] = BODIES[name]?.(undefined) ?? [];
      await expect
        .poll(async () => (await body()).http?.responseBody)
        .toContain(expected.startsWith("<") ? expected : '"id":');
    });
  });
});
