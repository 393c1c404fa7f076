import { afterEach, describe, expect, it } from "vitest";
import { nodeSender } from "../../src/node/http/sender.js";
import { platform } from "../../src/node/platform.js";
import { httpAddress } from "../../src/transport/http/client/client.js";
import { legacySseTransport } from "../../src/transport/http/client/legacy-sse.js";
import { closeAll, later, opened } from "./opened.js";
import { call, notice, recordingReceiver, rejection } from "./recording-receiver.js";
import { type Arrived, event, json, result, scriptedServer, stream } from "./scripted-server.js";
import { until } from "./virtual-time.js";

afterEach(closeAll);

const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });
const isAnswer = ({ message }: Arrived) => message !== undefined && "result" in message;

/** Sends that many pings, as fast as the reader takes them. */
function pinging(write: (text: string) => boolean, drained: (run: () => void) => void, limit: number) {
  let sent = 0;
  const more = () => {
    while (sent < limit) {
      const batch = Array.from({ length: 1000 }, () => event(ping(sent++))).join("");
      if (!write(batch)) return drained(more);
    }
  };
  more();
}

describe("a server that asks faster than it takes answers", () => {
  it("is not read on: at most 100 answers are on their way, and none is lost", async () => {
    const held: (() => void)[] = [];
    let release = false;
    const total = 60_000;
    const { transport, server, receiver } = await opened((request, response) => {
      if (isAnswer(request)) {
        const accept = () => void response.writeHead(202).end();
        return release ? accept() : void held.push(accept);
      }
      stream(response);
      pinging(
        (text) => response.write(text),
        (run) => response.once("drain", run),
        total,
      );
    });
    const answer = rejection(transport.request(call(1)));
    await until(() => held.length >= 100);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(held).toHaveLength(100);
    expect(receiver.asked.length).toBeLessThan(10_000);
    release = true;
    for (const accept of held) accept();
    await server.arrived(2_000, isAnswer);
    transport.abandon(1, new Error("enough"));
    await answer;
  });

  it("also over HTTP+SSE", async () => {
    let waiting = 0;
    const total = 60_000;
    const server = await scriptedServer((request, response) => {
      if (isAnswer(request)) return void waiting++;
      if (request.method === "POST") return void response.writeHead(202).end();
      stream(response);
      response.write("event: endpoint\ndata: /post\n\n");
      pinging(
        (text) => response.write(text),
        (run) => response.once("drain", run),
        total,
      );
    });
    const transport = legacySseTransport(httpAddress(server.url), { sender: nodeSender(), platform });
    later(async () => {
      await Promise.all([transport.close(), server.close()]);
    });
    const receiver = recordingReceiver();
    await transport.open(receiver);
    await until(() => waiting >= 100);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(waiting).toBe(100);
    expect(receiver.asked.length).toBeLessThan(10_000);
  });
});

describe("a stream of events that are not messages", () => {
  const garbage = "data: {\n\n".repeat(50_000);

  it("is cut after a hundred in a row, and they share one error", async () => {
    const { transport, receiver } = await opened((_request, response) => {
      stream(response);
      response.write(garbage);
    });
    const error = await rejection(transport.request(call(1)));
    expect(error).toMatchObject({ kind: "limit_exceeded", message: expect.stringContaining("100") });
    expect(receiver.faults).toHaveLength(100);
    expect(new Set(receiver.faults).size).toBe(1);
  });

  it("is read on when a message is among each hundred", async () => {
    const { transport } = await opened((request, response) => {
      stream(response);
      const note = event({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
      response.end(("data: {\n\n".repeat(99) + note).repeat(5) + event(result(request, "fine")));
    });
    expect(await transport.request(call(1))).toBe("fine");
  });

  it("is cut too when it stands, and not opened again", async () => {
    let opens = 0;
    const { transport, receiver } = await opened(
      (request, response) => {
        if (request.message?.method === "initialize")
          return json(response, result(request), 200, { "mcp-session-id": "s" });
        if (request.method !== "GET") return void response.writeHead(202).end();
        opens++;
        stream(response);
        response.write(garbage);
      },
      { getStream: true },
    );
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: {}, hasSessions: true });
    await transport.notify(notice("notifications/initialized"));
    await until(() => receiver.faults.length > 100);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(receiver.faults).toHaveLength(101);
    expect(receiver.faults.at(-1)).toMatchObject({ kind: "limit_exceeded" });
    expect(opens).toBe(1);
  });
});

describe("headers of the program", () => {
  it("take the place of the sender's own", async () => {
    const raw: string[] = [];
    const { transport, server } = await opened((request, response) => json(response, result(request)), {
      headers: { Host: "tenant.example", "Accept-Encoding": "br" },
    });
    server.server.on("request", (incoming) => raw.push(...incoming.rawHeaders.map((text) => text.toLowerCase())));
    await transport.request(call(1));
    expect(raw.filter((text) => text === "host")).toHaveLength(1);
    expect(raw.filter((text) => text === "accept-encoding")).toHaveLength(1);
    expect(server.requests[0]?.headers).toMatchObject({ host: "tenant.example", "accept-encoding": "br" });
  });
});
