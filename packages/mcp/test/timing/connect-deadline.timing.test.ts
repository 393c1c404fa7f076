import { createServer } from "node:net";
import { connect } from "@parley/mcp";
import { socketTransport } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import type { Target } from "../../src/client/connect.js";
import { kept } from "../client/kept-open.js";
import { STATEFUL, scriptedPipe } from "../client/scripted-pipe.js";
import { json, result, scriptedServer } from "../http-client/scripted-server.js";

const node = (program: string): Target => ({ command: process.execPath, args: ["-e", program] });
const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("it must fail"),
    (error: unknown) => error,
  );

describe("`connect` ends within half a second of its deadline", () => {
  const silent: Record<string, () => Promise<Target>> = {
    "a program that ignores SIGTERM": async () =>
      node("process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000);"),
    "an HTTP server that is silent": async () => kept(await scriptedServer(() => {})).url,
    "an HTTP server with a session that it does not end": async () => {
      const server = kept(
        await scriptedServer((request, response) => {
          if (request.message?.method === "initialize")
            json(
              response,
              result(request, { protocolVersion: STATEFUL, capabilities: {}, serverInfo: { name: "s", version: "1" } }),
              200,
              { "mcp-session-id": "s" },
            );
          else if (request.message?.method === "server/discover") response.writeHead(400).end();
        }),
      );
      return server.url;
    },
    "a socket that is silent": async () => {
      const server = createServer(() => {});
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as { port: number };
      kept({ close: async () => void server.close() });
      return { makeTransport: () => socketTransport({ port }) };
    },
    "a pipe that is silent": async () => scriptedPipe(() => {}),
  };
  for (const [name, target] of Object.entries(silent)) {
    it(name, async () => {
      // What is loaded on demand is loaded before the clock starts.
      await connect(node("process.exit()"), { timeouts: { connectMs: 5_000 } }).catch(() => {});
      const connectMs = 700;
      const to = await target();
      const started = performance.now();
      expect(await failure(connect(to, { timeouts: { connectMs } }))).toMatchObject({ data: expect.anything() });
      expect(performance.now() - started).toBeLessThan(connectMs + 500);
    });
  }
});
