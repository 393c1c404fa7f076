import { afterEach, describe, expect, it } from "vitest";
import { RpcError } from "../../src/jsonrpc/error.js";
import { httpStatusOf } from "../../src/protocol/http-failure.js";
import { closeAll, opened, SENDERS } from "./opened.js";
import { call, notice, rejection } from "./recording-receiver.js";
import { event, json, result, stream } from "./scripted-server.js";
import { until } from "./virtual-time.js";

afterEach(closeAll);

describe.each(SENDERS)("requests over %s", (_name, makeSender) => {
  it("posts with both media types and gives the result of a JSON answer (HTTP25-04, HTTP26-03)", async () => {
    const { server, transport } = await opened((request, response) => json(response, result(request)), {
      sender: makeSender(),
    });
    await expect(transport.request(call(1, "tools/list", { "Mcp-Method": "tools/list" }))).resolves.toEqual({
      ok: true,
    });
    const [first] = server.requests;
    expect(first?.method).toBe("POST");
    expect(first?.headers.accept).toBe("application/json, text/event-stream");
    expect(first?.headers["content-type"]).toBe("application/json");
    expect(first?.headers["mcp-method"]).toBe("tools/list");
    expect(transport.target).toBe(server.url);
    expect(transport.kind).toBe("http");
  });

  it("delivers what a stream says before its answer, in order, and then settles (HTTP25-07, HTTP25-15)", async () => {
    const { transport, receiver } = await opened(
      (request, response) => {
        stream(response);
        response.write(": comment\n\nid: 1\ndata:\n\n");
        response.write(event({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } }));
        response.write(`event: other\ndata: {"jsonrpc":"2.0","method":"notifications/ignored"}\n\n`);
        response.end(
          event({ jsonrpc: "2.0", method: "notifications/message", params: {} }) + event(result(request, { n: 7 })),
        );
      },
      { sender: makeSender() },
    );
    const answer = transport.request(call(0)).then((value) => {
      receiver.heard.push("answer");
      return value;
    });
    await expect(answer).resolves.toEqual({ n: 7 });
    expect(receiver.heard).toEqual([
      "notification notifications/progress",
      "notification notifications/message",
      "answer",
    ]);
    expect(receiver.notifications.map(({ about }) => about)).toEqual([0, 0]);
  });

  it("rejects with the server's own error, from JSON, from a stream and from an error status", async () => {
    const { transport } = await opened(
      (request, response) => {
        const message = { jsonrpc: "2.0", id: request.message?.id, error: { code: -32602, message: "no", data: [1] } };
        if (request.message?.id === 1) return json(response, message);
        if (request.message?.id === 3) return json(response, message, 400);
        stream(response);
        response.end(event(message));
      },
      { sender: makeSender() },
    );
    for (const id of [1, 2, 3]) {
      const error = await rejection(transport.request(call(id)));
      expect(error).toBeInstanceOf(RpcError);
      expect(error).toMatchObject({ code: -32602, message: "no", data: [1] });
      expect(httpStatusOf(error)).toBe(id === 3 ? 400 : undefined);
    }
  });

  it("answers requests of the server on a stream by posting the answer (HTTP25-10)", async () => {
    let finish: (() => void) | undefined;
    const { server, transport } = await opened(
      (request, response) => {
        if (request.message?.result !== undefined) {
          response.writeHead(202).end();
          finish?.();
          return;
        }
        stream(response);
        response.write(event({ jsonrpc: "2.0", id: "s1", method: "roots/list" }));
        finish = () => response.end(event(result(request)));
      },
      { sender: makeSender() },
    );
    await expect(transport.request(call(1))).resolves.toEqual({ ok: true });
    expect(server.requests[1]?.message).toEqual({ jsonrpc: "2.0", id: "s1", result: { answered: "roots/list" } });
  });

  it("posts nothing for a request of the server that gets no answer", async () => {
    const { server, transport, receiver } = await opened(
      (request, response) => {
        stream(response);
        response.write(event({ jsonrpc: "2.0", id: "s1", method: "roots/list" }));
        response.end(event(result(request)));
      },
      { sender: makeSender() },
    );
    // What a client gives whose revision has no such requests, or whose user is no longer wanted.
    receiver.request = async () => "";
    await transport.request(call(1));
    await transport.request(call(2));
    expect(server.requests.map(({ body }) => body)).toEqual([call(1).text, call(2).text]);
    expect(receiver.faults).toEqual([]);
  });

  it("sends 2,000 notifications and errors over a handful of connections", async () => {
    let sockets = 0;
    const { server, transport } = await opened(
      (request, response) => {
        if (request.message?.id === undefined) response.writeHead(202).end();
        else json(response, { oops: true }, 500);
      },
      { sender: makeSender() },
    );
    server.server.on("connection", () => sockets++);
    for (let i = 0; i < 125; i++) {
      const work: Promise<unknown>[] = [];
      for (let k = 0; k < 8; k++) {
        work.push(
          Promise.resolve(transport.notify(notice("notifications/x"))),
          rejection(transport.request(call(i * 8 + k))),
        );
      }
      await Promise.all(work);
    }
    expect(server.requests).toHaveLength(2_000);
    expect(sockets).toBeLessThanOrEqual(32);
  });

  it("aborts the HTTP request of an abandoned call and rejects with the reason (HTTP26-24, CANC-02)", async () => {
    let gone = false;
    const { server, transport, receiver } = await opened(
      (request, response) => {
        response.on("close", () => {
          gone = true;
        });
        if (request.message?.id !== 2) return;
        stream(response);
        response.write(event({ jsonrpc: "2.0", method: "notifications/x" }));
      },
      { sender: makeSender() },
    );
    for (const id of [1, 2]) {
      gone = false;
      const answer = rejection(transport.request(call(id)));
      await server.arrived(id);
      if (id === 2) await until(() => receiver.notifications.length === 1);
      const reason = new Error("enough");
      transport.abandon(id, reason);
      expect(await answer).toBe(reason);
      await until(() => gone);
    }
  });

  it("keeps the id 0, the empty id and ids that differ only in type apart", async () => {
    const { transport } = await opened(
      (request, response) => json(response, result(request, typeof request.message?.id)),
      { sender: makeSender() },
    );
    await expect(transport.request(call(0))).resolves.toBe("number");
    await expect(transport.request(call(""))).resolves.toBe("string");
    await expect(Promise.all([transport.request(call("1")), transport.request(call(1))])).resolves.toEqual([
      "string",
      "number",
    ]);
  });

  it("rejects what is pending when it is closed, and refuses what comes later", async () => {
    const { server, transport } = await opened(() => {}, { sender: makeSender() });
    const answer = rejection(transport.request(call(1)));
    await server.arrived(1);
    await transport.close();
    expect(await answer).toMatchObject({ kind: "connection_closed" });
    expect(await rejection(transport.request(call(2)))).toMatchObject({ kind: "connection_closed" });
  });
});
