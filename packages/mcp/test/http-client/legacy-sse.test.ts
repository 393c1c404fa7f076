import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { RpcError } from "../../src/jsonrpc/error.js";
import { platform } from "../../src/node/platform.js";
import { McpError } from "../../src/protocol/error.js";
import { httpStatusOf } from "../../src/protocol/http-failure.js";
import { legacySseTransport } from "../../src/transport/http/client/legacy-sse.js";
import { closeAll, later, SENDERS } from "./opened.js";
import { call, notice, recordingReceiver, rejection } from "./recording-receiver.js";
import { type Arrived, event, json, type Script, scriptedServer, stream } from "./scripted-server.js";
import { until } from "./virtual-time.js";

afterEach(closeAll);

const ENDPOINT = "event: endpoint\ndata: /messages?sessionId=1\n\n";

/** A server of 2024-11-05: the stream is handed to `post` together with each message. */
function legacy(post: (request: Arrived, events: ServerResponse, response: ServerResponse) => void): Script {
  let events: ServerResponse | undefined;
  return (request, response) => {
    if (request.method === "GET") {
      events = response;
      stream(response);
      response.write(ENDPOINT);
    } else if (events !== undefined) post(request, events, response);
  };
}

async function served(script: Script, sender: (typeof SENDERS)[number][1], headers: Record<string, string> = {}) {
  const server = await scriptedServer(script);
  const transport = legacySseTransport(server.url, { sender: sender(), platform, headers });
  const receiver = recordingReceiver();
  later(async () => {
    await transport.close();
    await server.close();
  });
  return { server, transport, receiver };
}

describe.each(SENDERS)("HTTP+SSE of 2024-11-05 over %s", (_name, makeSender) => {
  it("posts to the address that the stream names and hears the answers on the stream (SSE24-02, -03, -04)", async () => {
    const { server, transport, receiver } = await served(
      legacy((request, events, response) => {
        response.writeHead(202).end("Accepted");
        if (request.message?.id === undefined || request.message.result !== undefined) return;
        events.write(event({ jsonrpc: "2.0", method: "notifications/progress", params: {} }));
        events.write(`event: message\n${event({ jsonrpc: "2.0", id: "q", method: "roots/list" })}`);
        events.write(`event: message\n${event({ jsonrpc: "2.0", id: request.message.id, result: { ok: 1 } })}`);
      }),
      makeSender,
      { authorization: "Bearer t" },
    );
    await transport.open(receiver);
    await expect(transport.request(call(1))).resolves.toEqual({ ok: 1 });
    await transport.notify(notice("notifications/initialized"));
    await server.arrived(1, ({ message }) => message?.result !== undefined);
    expect(receiver.heard).toEqual(["notification notifications/progress", "request roots/list"]);
    expect(server.requests.map(({ method, url }) => `${method} ${url}`).slice(0, 2)).toEqual([
      "GET /mcp",
      "POST /messages?sessionId=1",
    ]);
    for (const { headers } of server.requests) expect(headers.authorization).toBe("Bearer t");
    expect(transport.kind).toBe("channel");
  });

  it.each(["http://evil.example/messages", "https://127.0.0.1/messages", "//evil.example/x", "javascript:alert(1)"])(
    "refuses to post to another origin: %s (SSE24-06)",
    async (address) => {
      const { server, transport, receiver } = await served((_request, response) => {
        stream(response);
        response.write(`event: endpoint\ndata: ${address}\n\n`);
      }, makeSender);
      expect(await rejection(Promise.resolve(transport.open(receiver)))).toMatchObject({ kind: "invalid_response" });
      expect(server.requests).toHaveLength(1);
    },
  );

  it("fails to open where there is no such stream, with the status", async () => {
    for (const [code, kind] of [
      [404, "transport_error"],
      [401, "auth_required"],
    ] as const) {
      const { transport, receiver } = await served(
        (_request, response) => void response.writeHead(code).end(),
        makeSender,
      );
      const error = await rejection(Promise.resolve(transport.open(receiver)));
      expect(error).toMatchObject({ kind });
      expect(httpStatusOf(error)).toBe(code);
    }
    const { transport, receiver } = await served((_request, response) => json(response, {}), makeSender);
    expect(await rejection(Promise.resolve(transport.open(receiver)))).toMatchObject({ kind: "invalid_response" });
  });

  it("rejects everything pending and tells of the end when the stream ends", async () => {
    const { transport, receiver } = await served(
      legacy((_request, events, response) => {
        response.writeHead(202).end();
        events.end();
      }),
      makeSender,
    );
    await transport.open(receiver);
    expect(await rejection(transport.request(call(1)))).toMatchObject({ kind: "connection_closed" });
    await until(() => receiver.heard.includes("closed"));
    expect(receiver.heard.filter((word) => word === "closed")).toHaveLength(1);
    expect(await rejection(transport.request(call(2)))).toMatchObject({ kind: "connection_closed" });
  });

  it("rejects a request whose post is refused, and lives on", async () => {
    const { transport, receiver } = await served(
      legacy((request, events, response) => {
        if (request.message?.id === 1) return void response.writeHead(500).end();
        if (request.message?.id === 2)
          return json(response, { jsonrpc: "2.0", id: 2, error: { code: -32600, message: "no" } }, 400);
        response.writeHead(202).end();
        events.write(event({ jsonrpc: "2.0", id: request.message?.id, result: {} }));
      }),
      makeSender,
    );
    await transport.open(receiver);
    expect(await rejection(transport.request(call(1)))).toMatchObject({
      kind: "transport_error",
      data: { status: 500 },
    });
    expect(await rejection(transport.request(call(2)))).toBeInstanceOf(RpcError);
    await expect(transport.request(call(3))).resolves.toEqual({});
  });

  it("drops the stream on close, rejects what is pending, and does not tell of an end it made itself", async () => {
    let open = 0;
    const script = legacy((_request, _events, response) => void response.writeHead(202).end());
    const { transport, receiver } = await served((request, response) => {
      if (request.method === "GET") {
        open++;
        response.on("close", () => open--);
      }
      return script(request, response);
    }, makeSender);
    await transport.open(receiver);
    const answer = rejection(transport.request(call(1)));
    const reason = new McpError("cancelled", "enough");
    transport.abandon(1, reason);
    expect(await answer).toBe(reason);
    const pending = rejection(transport.request(call(2)));
    await transport.close();
    expect(await pending).toMatchObject({ kind: "connection_closed" });
    await until(() => open === 0);
    expect(receiver.heard).toEqual([]);
  });

  it("gives up posts that nobody takes when it closes, so that they do not hold the program", async () => {
    let posts = 0;
    const { server, transport, receiver } = await served(
      legacy((_request, _events, response) => {
        posts++;
        response.on("close", () => posts--);
      }),
      makeSender,
    );
    await transport.open(receiver);
    const told = rejection(Promise.resolve(transport.notify(notice("notifications/x"))));
    const asked = rejection(transport.request(call(1)));
    await server.arrived(2, ({ method }) => method === "POST");
    await transport.close();
    expect([(await told).kind, (await asked).kind]).toEqual(["connection_closed", "connection_closed"]);
    await until(() => posts === 0);
    expect(receiver.faults).toEqual([]);
  });

  it("can be closed while it waits for the address", async () => {
    const { server, transport, receiver } = await served((_request, response) => stream(response), makeSender);
    const opening = rejection(Promise.resolve(transport.open(receiver)));
    await server.arrived(1);
    await transport.close();
    expect(await opening).toMatchObject({ kind: "connection_closed" });
  });
});
