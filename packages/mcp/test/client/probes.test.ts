import { connect } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import type { Revision } from "../../src/protocol/revisions.js";
import { event, json, result, type Script, scriptedServer, stream } from "../http-client/scripted-server.js";
import { until } from "../http-client/virtual-time.js";
import { impatient } from "./impatient.js";
import { greetsIn, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const capabilities = { tools: {} };
const openings: Record<string, object> = {
  initialize: { protocolVersion: STATEFUL, capabilities, serverInfo: { name: "s", version: "1" } },
  "server/discover": { supportedVersions: [STATELESS], capabilities },
};

/** A client of a server that answers calls as `script` says. */
async function against(revision: Revision, script: Script) {
  const server = await scriptedServer((request, response) => {
    const opening = openings[request.message?.method ?? ""];
    if (opening !== undefined) return json(response, result(request, opening));
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (request.message?.id === undefined) return void response.writeHead(202).end();
    return script(request, response);
  });
  const client = await connect(server.url, { revisions: [revision] });
  open.push(server, client);
  return client;
}

const wrong: Record<string, [script: Script, kind: string]> = {
  "a stream that ends without the answer": [
    (_request, response) => {
      stream(response);
      response.end(": nothing\n\n");
    },
    "connection_closed",
  ],
  "a stream that is reset without the answer": [
    (_request, response) => {
      stream(response);
      setImmediate(() => response.destroy());
    },
    "connection_closed",
  ],
  "202 to a request": [(_request, response) => void response.writeHead(202).end(), "invalid_response"],
  "JSON with another id": [
    (_request, response) => json(response, { jsonrpc: "2.0", id: 4711, result: {} }),
    "invalid_response",
  ],
  "an event with another id, then the end": [
    (_request, response) => {
      stream(response);
      response.end(event({ jsonrpc: "2.0", id: 4711, result: {} }));
    },
    "invalid_response",
  ],
};

for (const revision of [STATEFUL, STATELESS] as const) {
  describe(`hardening probes, ${revision}`, () => {
    for (const [name, [script, kind]] of Object.entries(wrong)) {
      it(`${name} rejects with its kind, not by a deadline`, async () => {
        const client = await against(revision, script);
        await client.ping().catch(() => {});
        await expect(client.callTool("x")).rejects.toMatchObject({ kind, fix: expect.any(String) });
      });
    }
  });
}

describe("lifetime", () => {
  it("closing from inside every listener, again and again, is one close", async () => {
    const server = scriptedPipe((message, pipe) => void greetsIn("stateful", message, pipe));
    const client = await connect(server);
    let closes = 0;
    client.on("state", () => {
      closes++;
      void client.close();
    });
    await Promise.all(Array.from({ length: 1000 }, () => client.close()));
    expect(closes).toBe(1);
  });

  it("a session that the standing stream finds lost is replaced without any call", async () => {
    let sessions = 0;
    let live = "";
    const server = await scriptedServer((request, response) => {
      if (request.message?.method === "initialize") {
        sessions++;
        live = `s${sessions}`;
        return json(response, result(request, openings["initialize"]), 200, { "mcp-session-id": live });
      }
      const known = request.headers["mcp-session-id"] === live;
      if (request.method !== "GET") return void response.writeHead(known ? 202 : 404).end();
      if (!known) return void response.writeHead(404).end();
      stream(response);
      // The first stream breaks together with the memory of its session.
      if (sessions === 1) {
        live = "";
        response.end();
      }
    });
    const client = await connect(server.url, { revisions: [STATEFUL], platform: impatient });
    open.push(server, client);
    const reasons: string[] = [];
    client.on("session.recovered", ({ reason }) => reasons.push(reason.kind));
    await until(() => reasons.length === 1);
    expect(reasons).toEqual(["session_lost"]);
    expect(sessions).toBe(2);
  });
});
