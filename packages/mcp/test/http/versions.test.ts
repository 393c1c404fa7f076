import { describe, expect, it } from "vitest";
import type { Revision } from "../../src/protocol/revisions.js";
import { Server } from "../../src/server/server.js";
import { LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { ADAPTERS, type Served } from "./serving.js";

const server = (revisions?: readonly Revision[]) =>
  new Server({ name: "t", version: "1" }, { revisions })
    .tool("hello", {}, () => "hello")
    .resource("it://one", {}, () => "one")
    .prompt("greet", {}, () => "Hello");
const ping = { jsonrpc: "2.0", id: 7, method: "ping" };
const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };
const initialize = {
  jsonrpc: "2.0",
  id: 7,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};
const version = (revision: string) => ({ "mcp-protocol-version": revision });
const NEWER = ["2025-11-25", "2026-07-28"] as const;

/** The status of a reply and the code of its error. */
async function verdict(reply: Response | Promise<Response>) {
  const response = await reply;
  const { error } = JSON.parse((await response.text()) || "{}") as { error?: { code: number } };
  return [response.status, error?.code];
}

describe.each(ADAPTERS)("the version of a request through %s", (_name, start) => {
  const client = (served: Served) => new LegacyClient(served.url, { fetch: served.fetch });

  it.each([[true], [false]])(
    "must be named where no older client is served, and only supported ones are taken (ERA-17, HTTP25-38; sessions: %s)",
    async (sessions) => {
      const legacy = client(await start(server(NEWER), { sessions }));
      const opened = await legacy.post(initialize);
      expect(opened.status).toBe(200);
      legacy.sessionId = opened.headers.get("mcp-session-id") ?? undefined;
      for (const message of [ping, list]) {
        expect(await verdict(legacy.post(message))).toEqual([400, -32020]);
        for (const old of ["2024-11-05", "2025-03-26", "2025-06-18"])
          expect(await verdict(legacy.post(message, version(old)))).toEqual([400, -32600]);
        expect(await verdict(legacy.post(message, version("2025-11-25")))).toEqual([200, undefined]);
      }
    },
  );

  it.each(["bogus", "1999-01-01", "x".repeat(300)])(
    "is named in the refusal of a header that names no published one, with those that are (HTTP26-22): %s",
    async (bogus) => {
      const reply = await client(await start(server())).post(list, version(bogus));
      expect(reply.status).toBe(400);
      const { error } = (await reply.json()) as { error: { code: number; message: string; data: object } };
      expect(error.code).toBe(-32022);
      expect(error.message).toMatch(/^the header MCP-Protocol-Version is "[^"]{1,201}", which is not supported/);
      expect(error.data).toMatchObject({ supported: expect.arrayContaining(["2025-11-25", "2026-07-28"]) });
    },
  );

  it("is 2025-03-26 where it is not named and older clients are served (HTTP25-38)", async () => {
    const legacy = client(await start(server(), { sessions: false }));
    // Only that revision has arrays of messages.
    const answers = await legacy.post([list]);
    expect([answers.status, await answers.json()]).toMatchObject([200, [{ id: 7 }]]);
    expect((await legacy.post([list], version("2025-06-18"))).status).toBe(400);
  });

  it("is demanded by a server of the newest revision alone, of the handshake too (HTTP26-22)", async () => {
    const legacy = client(await start(server(["2026-07-28"])));
    for (const message of [initialize, list, ping]) expect(await verdict(legacy.post(message))).toEqual([400, -32020]);
    const older = await legacy.post(list, version("2025-11-25"));
    expect([older.status, await older.json()]).toMatchObject([
      400,
      { id: 7, error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2025-11-25" } } },
    ]);
  });

  it.each([[NEWER], [["2026-07-28"] as const]])("may lack in a notification (HTTP26-06; %j)", async (revisions) => {
    const served = await start(server(revisions), { sessions: revisions.length === 1 ? undefined : false });
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    for (const headers of [{}, version("2026-07-28"), { ...version("2026-07-28"), "mcp-method": "other" }])
      expect((await client(served).post(cancelled, headers)).status).toBe(202);
  });
});

describe.each(ADAPTERS)("Mcp-Name through %s", (_name, start) => {
  it.each([
    ["tools/call", { name: "hello", arguments: {} }],
    ["resources/read", { uri: "it://one" }],
    ["prompts/get", { name: "greet" }],
  ])("must repeat the body of %s, surrounding spaces aside (HTTP26-30)", async (method, params) => {
    const served = await start(server());
    const { headers, body } = modern(method, params);
    const post = (name: string | undefined) => {
      const { "mcp-name": right = "", ...rest } = headers;
      const named = name === undefined ? rest : { ...rest, "mcp-name": name === "" ? `  ${right} ` : name };
      return verdict(served.fetch(new Request(served.url, { method: "POST", headers: named, body })));
    };
    expect(await post("")).toEqual([200, undefined]);
    expect(await post("other")).toEqual([400, -32020]);
    expect(await post(undefined)).toEqual([400, -32020]);
  });

  it("is ignored where the method names nothing (HTTP26-30)", async () => {
    const served = await start(server());
    const { headers, body } = modern("tools/list");
    const named = { ...headers, "mcp-name": "anything" };
    expect(await verdict(served.fetch(new Request(served.url, { method: "POST", headers: named, body })))).toEqual([
      200,
      undefined,
    ]);
  });
});
