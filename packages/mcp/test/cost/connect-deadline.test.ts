import { createServer } from "node:net";
import { connect } from "@parley/mcp";
import { socketTransport } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import type { Target } from "../../src/client/connect.js";
import { kept } from "../client/kept-open.js";
import { STATEFUL, scriptedPipe } from "../client/scripted-pipe.js";
import { json, result, scriptedServer } from "../http-client/scripted-server.js";
import { until, virtualTime } from "../http-client/virtual-time.js";

let isReady = true;
/** A program that says on stderr when it is ready. */
const node = (program: string): Target => {
  isReady = false;
  const stderr = () => {
    isReady = true;
  };
  return { command: process.execPath, args: ["-e", program], stderr };
};
const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("it must fail"),
    (error: unknown) => error,
  );

const CONNECT_MS = 700;
const CLOSE_MS = 500;

describe("`connect` ends within half a second of its deadline, by its own clock", () => {
  const silent: Record<string, () => Promise<Target>> = {
    "a program that ignores SIGTERM": async () =>
      node(
        "process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000); console.error('ready');",
      ),
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
      const time = virtualTime();
      const options = { timeouts: { connectMs: CONNECT_MS }, platform: time.platform };
      let error: unknown;
      void failure(connect(await target(), options)).then((reason) => {
        error = reason;
      });
      await until(() => isReady && time.pending() > 0);
      const deadline = time.now() + CONNECT_MS;
      // Timers after that never run, so that what waits for one of them never ends.
      await until(() => {
        time.next(deadline + CLOSE_MS - time.now());
        return error !== undefined;
      });
      expect(error).toMatchObject({ data: expect.anything() });
      expect(time.now()).toBeGreaterThanOrEqual(deadline);
      // The program is ended by force.
      await until(() => !time.next());
    });
  }
});
