import { afterEach, describe, expect, it } from "vitest";
import type { Transport } from "../../src/transport/transport.js";
import { closeAll, opened, SENDERS } from "./opened.js";
import { call, rejection } from "./recording-receiver.js";
import { type Arrived, event, json, result, type Script, stream } from "./scripted-server.js";
import { until, virtualTime } from "./virtual-time.js";

afterEach(closeAll);

const NOTE = { jsonrpc: "2.0", method: "notifications/progress", params: {} };

async function greet(transport: Transport, stateful: boolean): Promise<void> {
  await transport.request(call(0, "initialize"));
  transport.established?.({ headers: {}, hasSessions: stateful });
}

/** Answers the handshake with a session and DELETE with 204; the rest is the script's. */
function after(script: Script): Script {
  return (request, response) => {
    if (request.method === "DELETE") return void response.writeHead(204).end();
    if (request.message?.method !== "initialize") return script(request, response);
    json(response, result(request), 200, { "mcp-session-id": "s" });
  };
}

const ENDS: [string, string, Script][] = [
  [
    "ends cleanly",
    "connection_closed",
    (_request, response) => {
      stream(response);
      response.end(event(NOTE));
    },
  ],
  [
    "ends cleanly and empty",
    "connection_closed",
    (_request, response) => {
      stream(response);
      response.end();
    },
  ],
  [
    "is reset",
    "connection_closed",
    (_request, response) => {
      stream(response);
      response.write(event(NOTE), () => response.socket?.resetAndDestroy());
    },
  ],
  [
    "ends inside an event",
    "connection_closed",
    (request, response) => {
      stream(response);
      response.end(event(result(request)).trimEnd());
    },
  ],
  [
    "is reset inside a JSON body",
    "connection_closed",
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"jsonrpc":', () => response.socket?.resetAndDestroy());
    },
  ],
  [
    "is reset before any header",
    "connection_closed",
    (_request, response) => {
      response.socket?.resetAndDestroy();
    },
  ],
];

describe.each(SENDERS)("an answer that breaks off, over %s", (_name, makeSender) => {
  describe.each([
    ["stateful", true],
    ["stateless", false],
  ])("in the %s era", (_era, stateful) => {
    it.each(ENDS)("and %s rejects its request without waiting for any timer", async (_how, kind, script) => {
      // A clock that nobody moves: what waited for a deadline would wait for ever.
      const { platform } = virtualTime();
      const { transport, server } = await opened(after(script), { sender: makeSender(), platform });
      await greet(transport, stateful);
      for (let id = 1; id <= 3; id++) expect(await rejection(transport.request(call(id)))).toMatchObject({ kind });
      expect(server.requests.filter(({ method }) => method === "GET")).toHaveLength(0);
    });
  });

  it("is lost in the stateless era also when its events have ids: nothing is sent again (HTTP26-16)", async () => {
    const { transport, server } = await opened(
      after((_request, response) => {
        stream(response);
        response.end(`retry: 1\n${event(NOTE, "7")}`);
      }),
      { sender: makeSender() },
    );
    await greet(transport, false);
    expect(await rejection(transport.request(call(1)))).toMatchObject({ kind: "connection_closed" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("a stream that can be resumed", () => {
  const isGet = ({ method }: Arrived) => method === "GET";

  it("is opened again by GET from its last event, after the server's `retry`, and never posted again (HTTP25-13, -14, -25)", async () => {
    const time = virtualTime();
    const { transport, server, receiver } = await opened(
      after((request, response) => {
        stream(response);
        if (request.method === "POST") return void response.end(`retry: 700\nid: a\ndata:\n\n${event(NOTE, "b")}`);
        response.end(event(NOTE, "c") + event({ jsonrpc: "2.0", id: 1, result: "late" }, "d"));
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = transport.request(call(1));
    await until(() => time.pending() > 0);
    const before = time.now();
    time.next();
    await expect(answer).resolves.toBe("late");
    expect(time.now() - before).toBe(700);
    expect(receiver.notifications.map(({ about }) => about)).toEqual([1, 1]);
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "POST", "GET"]);
    expect(server.requests[2]?.headers).toMatchObject({
      "last-event-id": "b",
      "mcp-session-id": "s",
      accept: "text/event-stream",
    });
  });

  it.each([
    ["plain-1", "plain-1"],
    ["世 1", Buffer.from("世 1").toString("latin1")],
  ])("names its last event as it was sent: %s", async (id, header) => {
    const time = virtualTime();
    const { transport, server } = await opened(
      after((request, response) => {
        stream(response);
        response.end(request.method === "POST" ? `id: ${id}\ndata:\n\n` : event({ jsonrpc: "2.0", id: 1, result: 1 }));
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = transport.request(call(1));
    await until(() => time.pending() > 0);
    time.next();
    await answer;
    expect(server.requests.find(isGet)?.headers["last-event-id"]).toBe(header);
  });

  it.each(["", "a\u0001b", "x".repeat(5_000)])(
    "is over when its last event has an id that no header carries: %.8j",
    async (id) => {
      const { transport } = await opened(
        after((_request, response) => {
          stream(response);
          response.end(`${event(NOTE, "good")}id: ${id}\ndata:\n\n`);
        }),
      );
      await greet(transport, true);
      expect(await rejection(transport.request(call(1)))).toMatchObject({ kind: "connection_closed" });
    },
  );

  it("is resumed again and again while it brings events", async () => {
    const time = virtualTime();
    let nth = 0;
    const { transport, server } = await opened(
      after((_request, response) => {
        stream(response);
        nth++;
        response.end(nth <= 20 ? event(NOTE, String(nth)) : event({ jsonrpc: "2.0", id: 1, result: nth }));
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = transport.request(call(1));
    for (let i = 0; i < 20; i++) {
      await until(() => time.pending() > 0);
      time.next();
    }
    await expect(answer).resolves.toBe(21);
    expect(server.requests.filter(isGet).map(({ headers }) => headers["last-event-id"])).toEqual(
      Array.from({ length: 20 }, (_, i) => String(i + 1)),
    );
  });

  it("HTTP25-14: of a server that polls is resumed for as long as each connection ends cleanly with a new event id", async () => {
    const time = virtualTime();
    let nth = 0;
    const at: number[] = [];
    const { transport } = await opened(
      after((_request, response) => {
        stream(response);
        at.push(time.now());
        nth++;
        response.end(nth <= 40 ? `retry: 700\nid: ${nth}\ndata:\n\n` : event({ jsonrpc: "2.0", id: 1, result: nth }));
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = transport.request(call(1));
    for (let i = 0; i < 40; i++) {
      await until(() => time.pending() > 0);
      time.next();
    }
    await expect(answer).resolves.toBe(41);
    expect(new Set(at.slice(1).map((moment, index) => moment - (at[index] as number)))).toEqual(new Set([700]));
  });

  it("of a server that ends cleanly with the same event id each time is given up", async () => {
    const time = virtualTime();
    const { transport, server } = await opened(
      after((_request, response) => {
        stream(response);
        response.end("retry: 700\nid: a\ndata:\n\n");
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = rejection(transport.request(call(1)));
    for (let i = 0; i < 8; i++) {
      await until(() => time.pending() > 0);
      time.next();
    }
    expect(await answer).toMatchObject({ kind: "connection_closed" });
    expect(server.requests.filter(isGet)).toHaveLength(8);
  });

  it("is given up after 8 attempts that bring nothing, and the error says why", async () => {
    const time = virtualTime();
    const { transport, server } = await opened(
      after((request, response) => {
        if (request.method === "GET") return void response.writeHead(503).end();
        stream(response);
        response.end("id: a\ndata:\n\n");
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = rejection(transport.request(call(1)));
    for (let i = 0; i < 8; i++) {
      await until(() => time.pending() > 0);
      time.next();
    }
    const error = await answer;
    expect(error).toMatchObject({ kind: "connection_closed" });
    expect(error.message).toContain("503");
    expect(server.requests.filter(isGet)).toHaveLength(8);
    expect(time.pending()).toBe(0);
  });

  it.each([
    [405, "connection_closed"],
    [400, "connection_closed"],
    [404, "session_lost"],
  ])("whose resumption is answered with %i rejects at once as %s", async (status, kind) => {
    const time = virtualTime();
    const { transport, server } = await opened(
      after((request, response) => {
        if (request.method === "GET") return void response.writeHead(status).end();
        stream(response);
        response.end("id: a\ndata:\n\n");
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = rejection(transport.request(call(1)));
    await until(() => time.pending() > 0);
    time.next();
    expect(await answer).toMatchObject({ kind });
    expect(server.requests.filter(isGet)).toHaveLength(1);
  });

  it("can be abandoned while it waits, and leaves no timer behind", async () => {
    const time = virtualTime();
    const { transport, server } = await opened(
      after((_request, response) => {
        stream(response);
        response.end("id: a\ndata:\n\n");
      }),
      { platform: time.platform },
    );
    await greet(transport, true);
    const answer = rejection(transport.request(call(1)));
    await until(() => time.pending() > 0);
    const reason = new Error("enough");
    transport.abandon(1, reason);
    expect(await answer).toBe(reason);
    expect(time.pending()).toBe(0);
    expect(server.requests.filter(isGet)).toHaveLength(0);
  });
});

describe("a stream that goes on after its answer", () => {
  it("is cut after a second; what it says is reported and ignored", async () => {
    const time = virtualTime();
    let gone = false;
    const { transport, receiver } = await opened(
      (request, response) => {
        stream(response);
        response.on("close", () => {
          gone = true;
        });
        response.write(event(result(request, 1)) + event(result(request, 2)) + event(NOTE));
      },
      { platform: time.platform },
    );
    await expect(transport.request(call(1))).resolves.toBe(1);
    await until(() => time.pending() > 0);
    expect(receiver.notifications).toEqual([]);
    expect(receiver.faults).toHaveLength(2);
    time.next();
    await until(() => gone);
    expect(time.pending()).toBe(0);
  });
});
