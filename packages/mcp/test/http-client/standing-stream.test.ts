import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { Sender } from "../../src/http/http.js";
import { nodeSender } from "../../src/node/http/sender.js";
import type { HttpClientOptions } from "../../src/transport/http/client/client.js";
import { closeAll, opened } from "./opened.js";
import { call, notice, rejection } from "./recording-receiver.js";
import { type Arrived, event, json, result, stream } from "./scripted-server.js";
import { until, type VirtualTime, virtualTime } from "./virtual-time.js";

afterEach(closeAll);

const NOTE = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
const isGet = ({ method }: Arrived) => method === "GET";

/** A stateful server whose GET does what the test says; the clock is virtual. */
async function standing(
  get: (request: Arrived, response: ServerResponse, nth: number) => void,
  more: Partial<HttpClientOptions> = {},
  random = 1,
) {
  const time = virtualTime(random);
  const at: number[] = [];
  const all = await opened(
    (request, response) => {
      if (isGet(request)) {
        at.push(time.now());
        get(request, response, at.length);
      } else if (request.message?.method === "initialize") {
        json(response, result(request), 200, { "mcp-session-id": "s" });
      } else response.writeHead(request.message?.id === undefined ? 202 : 200).end();
    },
    { platform: time.platform, getStream: true, ...more },
  );
  const { transport } = all;
  await transport.request(call(1, "initialize"));
  transport.established?.({ headers: { "mcp-protocol-version": "2025-11-25" }, hasSessions: true });
  await transport.notify(notice("notifications/initialized"));
  return { ...all, time, at };
}

/** Plays `ms` of virtual time: whenever the client waits, the clock moves to the end of the wait. Gives the GETs in it. */
async function play(ms: number, time: VirtualTime, at: number[]): Promise<number[]> {
  const start = time.now();
  for (let step = 0; step < 500; step++) {
    await until(() => time.pending() > 0);
    if (!time.next(start + ms - time.now())) break;
  }
  return at.filter((moment) => moment - start < ms).map((moment) => moment - start);
}

describe("the standing stream", () => {
  it("is opened after the handshake, with session and revision, and brings messages of no request (HTTP25-17, -19)", async () => {
    const { server, receiver } = await standing((_request, response) => {
      stream(response);
      response.write(event(NOTE) + event({ jsonrpc: "2.0", id: "q", method: "roots/list" }));
    });
    await server.arrived(1, ({ message }) => message?.result !== undefined);
    const [get] = server.requests.filter(isGet);
    expect(get?.headers).toMatchObject({
      accept: "text/event-stream",
      "mcp-session-id": "s",
      "mcp-protocol-version": "2025-11-25",
    });
    expect(server.requests.findIndex(isGet)).toBeGreaterThan(1);
    expect(receiver.notifications).toEqual([{ message: NOTE, about: undefined }]);
    expect(receiver.faults).toEqual([]);
  });

  it("does not exist where GET is 405, which is no failure (HTTP25-18)", async () => {
    const { server, receiver, time } = await standing((_request, response) => void response.writeHead(405).end());
    await server.arrived(1, isGet);
    await until(() => time.pending() === 0);
    expect(receiver.faults).toEqual([]);
    expect(server.requests.filter(isGet)).toHaveLength(1);
  });

  it("that is closed cleanly each time is tried at most 8 times in 60 s", async () => {
    for (const random of [0, 0.5, 1]) {
      const { time, at, receiver } = await standing(
        (_request, response) => {
          stream(response);
          response.end(": nothing\n\n");
        },
        {},
        random,
      );
      const gets = await play(60_000, time, at);
      expect(gets.length).toBeGreaterThanOrEqual(3);
      expect(gets.length).toBeLessThanOrEqual(8);
      expect(receiver.faults).toEqual([]);
      await closeAll();
    }
  });

  it("that is closed with `retry: 1` and an empty event waits 500 ms and is tried at most 8 times in 60 s", async () => {
    const { time, at } = await standing(
      (_request, response) => {
        stream(response);
        response.end("retry: 1\nid: 7\ndata:\n\n");
      },
      {},
      0,
    );
    const gets = await play(60_000, time, at);
    expect(gets.length).toBeLessThanOrEqual(8);
    for (const [i, moment] of gets.entries())
      if (i > 0) expect(moment - (gets[i - 1] ?? 0)).toBeGreaterThanOrEqual(500);
  });

  it("HTTP25-13: waits as long as `retry` says, however long that is", async () => {
    const { time, at } = await standing((_request, response) => {
      stream(response);
      response.end("retry: 1000000000000\n\n");
    });
    await until(() => time.pending() > 0);
    time.next();
    await until(() => at.length === 2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(1_000_000_000_000);
  });

  it("backs off exponentially to 30 s from a server that is down", async () => {
    const { time, at, receiver } = await standing((_request, response) => void response.writeHead(503).end());
    const gets = await play(120_000, time, at);
    const gaps = gets.slice(1).map((moment, i) => moment - (gets[i] ?? 0));
    expect(gaps.slice(0, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    expect(Math.max(...gaps)).toBe(30_000);
    expect(receiver.faults).toEqual([]);
  });

  it("begins its count anew after an event, and goes on from the last one (HTTP25-25)", async () => {
    const { server, time, at, receiver } = await standing((_request, response, nth) => {
      stream(response);
      response.end(nth % 2 === 0 ? event(NOTE, `e-${nth}`) : ": nothing\n\n");
    });
    await play(60_000, time, at);
    expect(receiver.notifications.length).toBeGreaterThan(8);
    expect(
      server.requests
        .filter(isGet)
        .slice(0, 4)
        .map(({ headers }) => headers["last-event-id"]),
    ).toEqual([undefined, undefined, "e-2", "e-2"]);
  });

  it("begins its count anew after it stood 30 s, also in silence", async () => {
    let seen = 0;
    const send = nodeSender();
    const sender: Sender = (request, onResponse, onError) =>
      send(
        request,
        (response) => {
          onResponse(response);
          if (request.method === "GET") seen++;
        },
        onError,
      );
    const { time, at, receiver } = await standing(
      (_request, response, nth) => {
        stream(response);
        // The silence begins when the client knows that the stream stands.
        void until(() => seen === nth).then(() => time.platform.timer(30_000, () => response.end()));
      },
      { sender },
    );
    const gets = await play(300_000, time, at);
    const gaps = gets.slice(1).map((moment, i) => moment - (gets[i] ?? 0));
    expect(gets.length).toBeGreaterThanOrEqual(9);
    expect(Math.max(...gaps)).toBe(31_000);
    expect(receiver.faults).toEqual([]);
  });

  it("tries exactly as often as `maxReconnects` says", async () => {
    for (const maxReconnects of [0, 1, 2, 10]) {
      const { server, time, at } = await standing((_request, response) => void response.destroy(), { maxReconnects });
      await until(() => at.length === 1);
      for (let i = 0; i < maxReconnects; i++) {
        await until(() => time.pending() > 0);
        time.next();
      }
      await until(() => at.length === maxReconnects + 1);
      await server.arrived(maxReconnects + 1, isGet);
      await closeAll();
      expect(at).toHaveLength(maxReconnects + 1);
      expect(time.pending()).toBe(0);
    }
  });

  it("tells of a lost session by a fault of that kind, once, and stops", async () => {
    const { server, receiver, time } = await standing((_request, response) => void response.writeHead(404).end());
    await until(() => receiver.faults.length > 0);
    expect(receiver.faults).toMatchObject([{ kind: "session_lost" }]);
    expect(time.pending()).toBe(0);
    expect(server.requests.filter(isGet)).toHaveLength(1);
  });

  it("goes on without a last event that the server no longer has (HTTP25-27)", async () => {
    const { server, receiver, time, at } = await standing((request, response, nth) => {
      if (request.headers["last-event-id"] !== undefined) return void response.writeHead(400).end();
      stream(response);
      if (nth === 1) response.end(event(NOTE, "old"));
      else response.write(event(NOTE, "new"));
    });
    for (let i = 0; i < 2; i++) {
      await until(() => time.pending() > 0);
      time.next();
    }
    await until(() => receiver.notifications.length === 2);
    expect(at).toHaveLength(3);
    expect(server.requests.filter(isGet).map(({ headers }) => headers["last-event-id"])).toEqual([
      undefined,
      "old",
      undefined,
    ]);
  });

  it("ignores answers and garbage on it, and says so (HTTP25-20)", async () => {
    const { receiver, transport } = await standing((_request, response) => {
      stream(response);
      response.write(`${event({ jsonrpc: "2.0", id: 99, result: {} })}data: {not json\n\n${event(NOTE)}`);
    });
    await until(() => receiver.notifications.length === 1);
    expect(receiver.faults).toMatchObject([{ kind: "invalid_response" }, { kind: "invalid_response" }]);
    await transport.close();
  });

  it("ends with the transport, and with the session when that is reset", async () => {
    let open = 0;
    const { transport, server, time } = await standing((_request, response) => {
      open++;
      stream(response);
      response.on("close", () => open--);
    });
    await until(() => open === 1);
    transport.reset?.();
    await until(() => open === 0);
    expect(await rejection(transport.request(call(5)))).toBeInstanceOf(Error);
    await transport.close();
    expect(server.requests.filter(isGet)).toHaveLength(1);
    expect(time.pending()).toBe(0);
  });
});
