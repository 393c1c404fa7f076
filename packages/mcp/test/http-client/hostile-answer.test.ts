import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { RpcError } from "../../src/jsonrpc/error.js";
import { type HttpFailure, httpFailureOf, httpStatusOf } from "../../src/protocol/http-failure.js";
import { closeAll, opened, SENDERS } from "./opened.js";
import { call, notice, rejection } from "./recording-receiver.js";
import { type Arrived, event, json, result, type Script, stream } from "./scripted-server.js";
import { until, virtualTime } from "./virtual-time.js";

afterEach(closeAll);

const body =
  (text: string, type: string, status = 200): Script =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": type }).end(text);
const message =
  (make: (request: Arrived) => unknown): Script =>
  (request, response) =>
    json(response, make(request));
const events =
  (make: (request: Arrived) => string): Script =>
  (request, response) => {
    stream(response);
    response.write(make(request));
  };
const status =
  (code: number, headers: Record<string, string> = {}, text = ""): Script =>
  (_request, response: ServerResponse) =>
    void response.writeHead(code, headers).end(text);

const HOSTILE: [string, Script, { kind?: string; says?: RegExp }][] = [
  ["202", status(202), { kind: "invalid_response", says: /HTTP 202/ }],
  ["204", status(204), { kind: "invalid_response", says: /HTTP 204/ }],
  ["200 and nothing", status(200), { kind: "invalid_response", says: /empty/ }],
  ["200 and nothing as JSON", body("", "application/json"), { kind: "invalid_response", says: /empty/ }],
  ["a page", body("<html></html>", "text/html"), { kind: "invalid_response", says: /text\/html/ }],
  ["broken JSON", body('{"jsonrpc":"2.0",', "application/json"), { kind: "invalid_response", says: /not JSON/ }],
  ["JSON that is no message", body("42", "application/json"), { kind: "invalid_response" }],
  [
    "JSON of another id",
    message((r) => ({ ...(result(r) as object), id: 999 })),
    { kind: "invalid_response", says: /999/ },
  ],
  [
    "JSON of the id as text",
    message((r) => ({ ...(result(r) as object), id: "1" })),
    { kind: "invalid_response", says: /"1"/ },
  ],
  ["JSON without an id", message(() => ({ jsonrpc: "2.0", result: {} })), { kind: "invalid_response" }],
  [
    "JSON with result and error",
    message((r) => ({ ...(result(r) as object), error: { code: 1, message: "" } })),
    { kind: "invalid_response" },
  ],
  [
    "a notification as JSON",
    message(() => ({ jsonrpc: "2.0", method: "notifications/x" })),
    { kind: "invalid_response", says: /notification/ },
  ],
  ["an empty array", message(() => []), { kind: "invalid_response" }],
  [
    "an event of another id",
    events((r) => event({ ...(result(r) as object), id: 999 })),
    { kind: "invalid_response", says: /999/ },
  ],
  ["a malformed event of its id", events(() => event({ jsonrpc: "2.0", id: 1 })), { kind: "invalid_response" }],
  [
    "an error event without an id",
    events(() => event({ jsonrpc: "2.0", error: { code: -32700, message: "what?" } })),
    { says: /what\?/ },
  ],
  ["400", status(400), { kind: "transport_error", says: /400/ }],
  ["401", status(401, { "www-authenticate": 'Bearer realm="x"' }), { kind: "auth_required" }],
  ["403", status(403, {}, "Host not allowed"), { kind: "transport_error", says: /Host not allowed/ }],
  [
    "403 for scope",
    status(403, { "www-authenticate": 'Bearer error="insufficient_scope"' }),
    { kind: "insufficient_scope" },
  ],
  ["404", status(404), { kind: "transport_error", says: /404/ }],
  ["405", status(405), { kind: "transport_error" }],
  ["406", status(406), { kind: "transport_error" }],
  ["410", status(410), { kind: "transport_error" }],
  ["413", status(413), { kind: "transport_error" }],
  ["415", status(415), { kind: "transport_error" }],
  ["429", status(429, { "retry-after": "5" }), { kind: "transport_error" }],
  ["431", status(431), { kind: "transport_error" }],
  ["500 with a page", body("<html>secret</html>", "text/html", 500), { kind: "transport_error", says: /^[^<]*$/ }],
  ["502", status(502), { kind: "transport_error" }],
  ["503", status(503, { "retry-after": "120" }), { kind: "transport_error" }],
  ["304", status(304), { kind: "transport_error", says: /304/ }],
  [
    "a body that is not in its encoding",
    status(200, { "content-encoding": "gzip" }, "plain"),
    { kind: "decode_error" },
  ],
];

describe.each(SENDERS)("an answer that is wrong, over %s", (_name, makeSender) => {
  it.each(HOSTILE)("%s: rejects without waiting for any timer, and says what came", async (_what, script, expected) => {
    // A clock that nobody moves: what waited for a deadline would wait for ever.
    const { transport } = await opened(script, { sender: makeSender(), platform: virtualTime().platform });
    const error = await rejection(transport.request(call(1)));
    if (expected.kind !== undefined) expect(error).toMatchObject({ kind: expected.kind, fix: expect.any(String) });
    else expect(error).toBeInstanceOf(RpcError);
    if (expected.says !== undefined) expect(error.message).toMatch(expected.says);
  });
});

describe("an error status", () => {
  async function failure(script: Script, options?: Parameters<typeof opened>[1]) {
    const { transport } = await opened(script, options);
    return rejection(transport.request(call(1)));
  }

  it("gives the server's JSON-RPC error with the status behind it, for this request's id, for none and for null", async () => {
    for (const id of [{ id: 1 }, {}, { id: null }]) {
      const rpc = { code: -32022, message: "unsupported", data: { supported: ["x"] } };
      const error = await failure((_request, response) => json(response, { jsonrpc: "2.0", ...id, error: rpc }, 400));
      expect(error).toBeInstanceOf(RpcError);
      expect(error).toMatchObject(rpc);
      expect(httpFailureOf(error)).toMatchObject({ status: 400, rpc });
    }
  });

  it("does not take the error of another request for its own", async () => {
    const rpc = { code: -32022, message: "unsupported" };
    const error = await failure((_request, response) => json(response, { jsonrpc: "2.0", id: 77, error: rpc }, 400));
    expect(error).toMatchObject({ kind: "transport_error", data: { status: 400 } });
    expect(error.data).not.toHaveProperty("rpc");
  });

  it("401 keeps the challenge, also when the body has a JSON-RPC error", async () => {
    const challenge = 'Bearer resource_metadata="https://x/.well-known/oauth-protected-resource"';
    const error = await failure((_request, response) =>
      json(response, { jsonrpc: "2.0", error: { code: -32600, message: "log in" } }, 401, {
        "www-authenticate": challenge,
      }),
    );
    expect(error).toMatchObject({ kind: "auth_required", data: { status: 401, challenge, rpc: { code: -32600 } } });
    expect(httpStatusOf(error)).toBe(401);
  });

  it.each([
    ["5", 5_000],
    ["0", 0],
    ["1000000000", 60_000],
    [new Date(virtualTime().now() + 20_000).toUTCString(), 20_000],
    [new Date(0).toUTCString(), 0],
    ["soon", undefined],
  ])("429 with `Retry-After: %s` asks for a wait of at most a minute", async (value, expected) => {
    const error = await failure(status(429, { "retry-after": value }), { platform: virtualTime().platform });
    expect((error.data as HttpFailure).retryAfterMs).toBe(expected);
  });

  it("to a notification rejects `notify`, with the body's words", async () => {
    const { transport } = await opened(status(400, { "content-type": "text/plain" }, "not now"));
    const error = await rejection(Promise.resolve(transport.notify(notice("notifications/x"))));
    expect(error).toMatchObject({ kind: "transport_error" });
    expect(error.message).toContain("not now");
  });

  it("to an answer of ours is a fault, not a failure of the request", async () => {
    const { transport, receiver } = await opened(async (request, response) => {
      if (request.message?.result !== undefined) return void response.writeHead(500).end();
      stream(response);
      response.write(event({ jsonrpc: "2.0", id: 5, method: "ping" }));
      await until(() => receiver.faults.length > 0);
      response.end(event(result(request)));
    });
    await expect(transport.request(call(1))).resolves.toEqual({ ok: true });
    expect(receiver.faults).toMatchObject([{ kind: "transport_error" }]);
  });
});

describe("what never reached a server", () => {
  it.each(SENDERS)("is connect_failed over %s, so that it may be repeated", async (_name, makeSender) => {
    const { transport, server } = await opened(() => {}, { sender: makeSender() });
    await server.close();
    const error = await rejection(transport.request(call(1)));
    expect(error).toMatchObject({ kind: "connect_failed", data: { code: "ECONNREFUSED" } });
    expect(error.message).toContain(server.url);
  });
});

describe("events that are no messages", () => {
  it("do no harm: a hundred of them, then the answer", async () => {
    const { transport, receiver } = await opened((request, response) => {
      stream(response);
      response.write("data: {oops\n\n".repeat(100));
      response.end(event(result(request)));
    });
    await expect(transport.request(call(1))).resolves.toEqual({ ok: true });
    expect(receiver.faults).toHaveLength(100);
  });

  it("may be arrays of a revision that has them", async () => {
    const { transport, receiver } = await opened((request, response) => {
      stream(response);
      response.end(event([{ jsonrpc: "2.0", method: "notifications/x" }, result(request)]));
    });
    await expect(transport.request(call(1))).resolves.toEqual({ ok: true });
    expect(receiver.notifications).toHaveLength(1);
  });
});
