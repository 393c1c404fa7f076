import { connect, type Revision, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { fetchHandler } from "@parley/mcp/http";
import { describe, expect, it } from "vitest";

// What extensions declare survives the handshake of every revision with sessions, in both directions, whatever it is.

const REVISIONS: readonly Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const UI = "io.modelcontextprotocol/ui";

const OF_CLIENT = {
  [UI]: { mimeTypes: ["text/html;profile=mcp-app"] },
  "com.example/odd": { nested: { enabled: false, limit: 0 }, values: ["a", 2, null] },
  "com.example/empty": {},
};
const OF_SERVER = {
  [UI]: {},
  "com.example/odd": { nested: { enabled: true, limit: 3 }, values: [null, "b", 4] },
  "com.example/empty": {},
};
const EXPERIMENTAL = { "com.example/trial": { on: true } };

const declared = (settings: Record<string, Record<string, unknown>>) =>
  Object.entries(settings).map(([id, value]) => defineExtension({ id, settings: value }));

describe.each(REVISIONS)("extensions in %s", (revision) => {
  it("EXT-03: of a server are declared, and it sees those of its client", async () => {
    const server = new Server({ name: "s", version: "1" }, { extensions: declared(OF_SERVER) }).tool(
      "seen",
      {},
      (_args, ctx) => JSON.stringify(ctx.client.capabilities),
    );
    const handle = fetchHandler(server);
    let session: string | null = null;
    let id = 0;
    const send = async (method: string, params?: object, notification = false) => {
      const headers: Record<string, string> = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": revision,
        ...(session === null ? {} : { "mcp-session-id": session }),
      };
      const message = { jsonrpc: "2.0", ...(notification ? {} : { id: ++id }), method, params };
      const request = { method: "POST", headers, body: JSON.stringify(message) };
      const reply = await handle(new Request("http://localhost/mcp", request));
      session ??= reply.headers.get("mcp-session-id");
      const text = await reply.text();
      const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
      return (JSON.parse(json) as { result?: Record<string, unknown> }).result ?? {};
    };
    const opened = await send("initialize", {
      protocolVersion: revision,
      capabilities: { extensions: OF_CLIENT, experimental: EXPERIMENTAL },
      clientInfo: { name: "raw", version: "1" },
    });
    expect(opened).toMatchObject({ protocolVersion: revision });
    expect((opened["capabilities"] as { extensions?: unknown }).extensions).toEqual(OF_SERVER);
    await send("notifications/initialized", undefined, true);
    const { content } = (await send("tools/call", { name: "seen", arguments: {} })) as { content: { text: string }[] };
    const seen = JSON.parse(content[0]?.text ?? "{}") as { extensions?: unknown; experimental?: unknown };
    expect(seen.extensions).toEqual(OF_CLIENT);
    expect(seen.experimental).toEqual(EXPERIMENTAL);
    await server.close();
  });

  it("EXT-03: of a client are declared, and it sees those of its server", async () => {
    const received: Record<string, unknown>[] = [];
    const capabilities = { tools: {}, extensions: OF_SERVER, experimental: EXPERIMENTAL };
    const fetch = async (_url: unknown, init: { method?: string; body?: unknown } = {}) => {
      if (init.method !== "POST") return new Response(null, { status: 405 });
      const message = JSON.parse(String(init.body)) as {
        id?: number;
        method: string;
        params?: Record<string, unknown>;
      };
      if (message.id === undefined) return new Response(null, { status: 202 });
      if (message.method === "initialize") received.push(message.params ?? {});
      const serverInfo = { name: "raw", version: "1" };
      const answer =
        message.method === "initialize"
          ? { result: { protocolVersion: revision, capabilities, serverInfo } }
          : { error: { code: -32601, message: "no such method" } };
      return Response.json({ jsonrpc: "2.0", id: message.id, ...answer });
    };
    await using client = await connect("http://raw.test/mcp", {
      revisions: [revision],
      extensions: declared(OF_CLIENT),
      fetch: fetch as typeof globalThis.fetch,
    });
    expect(client.protocolVersion).toBe(revision);
    expect(received).toMatchObject([{ capabilities: { extensions: OF_CLIENT } }]);
    expect(client.serverCapabilities.extensions).toEqual(OF_SERVER);
    expect(client.serverCapabilities.experimental).toEqual(EXPERIMENTAL);
  });
});
