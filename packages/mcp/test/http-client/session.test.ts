import { afterEach, describe, expect, it } from "vitest";
import { McpError } from "../../src/protocol/error.js";
import { closeAll, opened, SENDERS } from "./opened.js";
import { call, notice, rejection } from "./recording-receiver.js";
import { event, json, result, type Script, stream } from "./scripted-server.js";
import { until, virtualTime } from "./virtual-time.js";

afterEach(closeAll);

/** Opens a session for `initialize`, and knows it until `lose` is called. */
function sessionServer() {
  let session: string | undefined;
  let count = 0;
  const script: Script = (request, response) => {
    if (request.message?.method === "initialize") {
      session = `s-${++count}`;
      json(response, result(request, { protocolVersion: "2025-11-25" }), 200, { "Mcp-Session-Id": session });
    } else if (request.headers["mcp-session-id"] !== session) {
      json(response, { jsonrpc: "2.0", error: { code: -32600, message: "no such session" } }, 404);
    } else if (request.message?.id === undefined) response.writeHead(request.method === "DELETE" ? 204 : 202).end();
    else json(response, result(request));
  };
  return {
    script,
    lose: () => {
      session = undefined;
    },
  };
}

const HEADERS = { "MCP-Protocol-Version": "2025-11-25" };

describe.each(SENDERS)("a session over %s", (_name, makeSender) => {
  it("is taken from the handshake, sent with everything later, and ended on close (HTTP25-28, -30, -34, -37)", async () => {
    const { script } = sessionServer();
    const { server, transport } = await opened(script, {
      sender: makeSender(),
      headers: { Authorization: "Bearer t" },
    });
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: HEADERS, hasSessions: true });
    await transport.notify(notice("notifications/initialized"));
    await transport.request(call(2, "tools/list", { "mcp-protocol-version": "2025-11-25" }));
    await transport.close();
    expect(
      server.requests.map(({ method, headers }) => [
        method,
        headers["mcp-session-id"],
        headers["mcp-protocol-version"],
      ]),
    ).toEqual([
      ["POST", undefined, undefined],
      ["POST", "s-1", "2025-11-25"],
      ["POST", "s-1", "2025-11-25"],
      ["DELETE", "s-1", "2025-11-25"],
    ]);
    for (const { headers } of server.requests) expect(headers.authorization).toBe("Bearer t");
  });

  it("is taken from a handshake that was answered by a stream", async () => {
    const { server, transport } = await opened(
      (request, response) => {
        if (request.method === "DELETE") return void response.writeHead(405).end();
        if (request.message?.method !== "initialize") return json(response, result(request));
        stream(response, { "mcp-session-id": "abc" });
        response.end(event(result(request)));
      },
      { sender: makeSender() },
    );
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: HEADERS, hasSessions: true });
    await transport.request(call(2));
    expect(server.requests[1]?.headers["mcp-session-id"]).toBe("abc");
  });

  it("is lost by a 404, and a new handshake without its id brings a new one (HTTP25-33)", async () => {
    const { script, lose } = sessionServer();
    const { server, transport } = await opened(script, { sender: makeSender() });
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: HEADERS, hasSessions: true });
    lose();
    const error = await rejection(transport.request(call(2)));
    expect(error).toMatchObject({ kind: "session_lost", data: { status: 404 } });
    expect(error.data).not.toHaveProperty("stale");
    transport.reset?.();
    await transport.request(call(3, "initialize"));
    transport.established?.({ headers: HEADERS, hasSessions: true });
    await expect(transport.request(call(4))).resolves.toEqual({ ok: true });
    expect(server.requests.map(({ headers }) => headers["mcp-session-id"])).toEqual([
      undefined,
      "s-1",
      undefined,
      "s-2",
    ]);
  });
});

describe("a session", () => {
  it("is not taken from a probe that failed, and a 404 without a session is none lost", async () => {
    const { server, transport } = await opened((request, response) => {
      if (request.message?.id === 1) {
        const error = { code: -32601, message: "unknown" };
        json(response, { jsonrpc: "2.0", id: 1, error }, 200, { "mcp-session-id": "trap" });
      } else response.writeHead(404).end();
    });
    await rejection(transport.request(call(1, "server/discover")));
    expect(await rejection(transport.request(call(2, "initialize")))).toMatchObject({ kind: "transport_error" });
    expect(server.requests[1]?.headers["mcp-session-id"]).toBeUndefined();
  });

  it("does not exist in the stateless era: no id, no GET, no DELETE (HTTP26-19)", async () => {
    const { server, transport } = await opened(
      (request, response) => json(response, result(request), 200, { "mcp-session-id": "nope" }),
      { getStream: true },
    );
    await transport.request(call(1, "server/discover"));
    transport.established?.({ headers: {}, hasSessions: false });
    await transport.request(call(2));
    await transport.request(call(3));
    await transport.close();
    expect(server.requests.map(({ method, headers }) => [method, headers["mcp-session-id"]])).toEqual(
      new Array(3).fill(["POST", undefined]),
    );
  });

  it.each([
    "Bad Request: No valid session ID provided",
    "Session not found",
    "Bad Request: Server not initialized",
    "Invalid session ID",
  ])("is lost also when a 400 says so in words: %s", async (message) => {
    const { transport } = await opened((request, response) => {
      if (request.message?.id === 1) json(response, result(request), 200, { "mcp-session-id": "s" });
      else json(response, { jsonrpc: "2.0", id: null, error: { code: -32000, message } }, 400);
    });
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: {}, hasSessions: true });
    expect(await rejection(transport.request(call(2)))).toMatchObject({ kind: "session_lost", data: { status: 400 } });
  });

  it("that the client has already left is marked as such, so that one loss makes one new handshake", async () => {
    let release: (() => void) | undefined;
    const { server, transport } = await opened((request, response) => {
      if (request.message?.method === "initialize") json(response, result(request), 200, { "mcp-session-id": "s" });
      else release = () => void response.writeHead(404).end();
    });
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: {}, hasSessions: true });
    const late = rejection(transport.request(call(2)));
    await server.arrived(2);
    transport.reset?.();
    release?.();
    expect(await late).toMatchObject({ kind: "session_lost", data: { status: 404, stale: true } });
  });

  it.each(["with space", "ünder", "x".repeat(5_000)])(
    "with an id that may not be sent back is refused (HTTP25-29): %.12s",
    async (id) => {
      const { transport } = await opened((request, response) => {
        response.setHeader("mcp-session-id", Buffer.from(id, "latin1").toString("latin1"));
        json(response, result(request));
      });
      expect(await rejection(transport.request(call(1, "initialize")))).toMatchObject({ kind: "invalid_response" });
    },
  );

  it("whose server does not answer DELETE delays close by 2 s and no more", async () => {
    const time = virtualTime();
    const { server, transport } = await opened(
      (request, response) => {
        if (request.method === "POST") json(response, result(request), 200, { "mcp-session-id": "s" });
      },
      { platform: time.platform },
    );
    await transport.request(call(1, "initialize"));
    const closing = transport.close();
    await server.arrived(2);
    const before = time.now();
    await until(() => time.pending() > 0);
    time.next();
    await closing;
    expect(time.now() - before).toBe(2_000);
    expect(time.pending()).toBe(0);
  });

  it("leaves no timer behind when it is closed while a notification waits, and that one rejects", async () => {
    const time = virtualTime();
    const { server, transport } = await opened(
      (request, response) => {
        if (request.message?.method === "initialize") json(response, result(request));
      },
      { platform: time.platform },
    );
    await transport.request(call(1, "initialize"));
    const notified = rejection(Promise.resolve(transport.notify(notice("notifications/initialized"))));
    await server.arrived(2);
    await transport.close();
    expect(await notified).toMatchObject({ kind: "connection_closed" });
    await until(() => time.pending() === 0);
  });

  it("whose server is silent to a notification gives it up after 30 s", async () => {
    const time = virtualTime();
    const { server, transport } = await opened(() => {}, { platform: time.platform });
    const notified = rejection(Promise.resolve(transport.notify(notice("notifications/x"))));
    await server.arrived(1);
    const before = time.now();
    time.next();
    expect(await notified).toMatchObject({ kind: "timeout", fix: expect.stringContaining("timeouts.send") });
    expect(time.now() - before).toBe(30_000);
  });

  it("is closed once, however often close is called, also from inside a notification", async () => {
    const { server, transport, receiver } = await opened((request, response) => {
      if (request.method === "DELETE") return void response.writeHead(204).end();
      if (request.message?.method === "initialize")
        return json(response, result(request), 200, { "mcp-session-id": "s" });
      stream(response);
      response.write(event({ jsonrpc: "2.0", method: "notifications/x" }));
    });
    await transport.request(call(1, "initialize"));
    const closings: Promise<void>[] = [];
    receiver.notification = () => {
      for (let i = 0; i < 1_000; i++) closings.push(transport.close());
    };
    const error = await rejection(transport.request(call(2)));
    await Promise.all(closings);
    expect(McpError.is(error) && error.kind).toBe("connection_closed");
    expect(server.requests.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });
});
