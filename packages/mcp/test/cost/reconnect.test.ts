import { connect } from "@parley/mcp";
import { expect, it } from "vitest";
import type { Sender, SendResponse } from "../../src/http/http.js";
import { httpClientTransport } from "../../src/transport/http/client/client.js";
import { impatient } from "../client/impatient.js";
import { greetsIn, scriptedPipe } from "../client/scripted-pipe.js";
import { recordingReceiver } from "../http-client/recording-receiver.js";
import { until, virtualTime } from "../http-client/virtual-time.js";
import { liveBytes } from "./cost.js";

const EVENT = new TextEncoder().encode('id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n');

/** A stream of one event, without a socket, so that ten thousand of them take a second. */
const oneEvent: SendResponse = {
  status: 200,
  header: (name) => (name === "content-type" ? "text/event-stream" : undefined),
  text: () => Promise.resolve(""),
  async *chunks() {
    yield EVENT;
  },
  cancel() {},
};

it("10,000 reconnects of one standing stream leave nothing behind", async () => {
  const time = virtualTime();
  let gets = 0;
  const sender: Sender = (_request, onResponse) => {
    gets++;
    queueMicrotask(() => onResponse(oneEvent));
    return () => gets--;
  };
  const transport = httpClientTransport("http://127.0.0.1/mcp", { sender, platform: time.platform });
  let heard = 0;
  await transport.open({ ...recordingReceiver(), notification: () => void heard++ });
  transport.established?.({ headers: {}, hasSessions: true });
  let before = 0;
  for (let round = 1; round <= 10_500; round++) {
    // The first rounds pay for compiled code.
    if (round === 500) before = liveBytes();
    for (let turn = 0; time.pending() === 0 && turn < 100; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    time.next();
  }
  const growth = (liveBytes() - before) / 1024 / 1024;
  await until(() => heard >= 10_000);
  expect(gets).toBeGreaterThanOrEqual(10_000);
  expect(growth).toBeLessThanOrEqual(1);
  await transport.close();
  expect(time.pending()).toBe(0);
});

it("3,000 reconnects of one client leave nothing behind", async () => {
  const server = scriptedPipe((message, pipe) => {
    if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
  });
  const client = await connect(server, { platform: impatient });
  let recovered = 0;
  client.on("session.recovered", () => recovered++);
  const reconnect = async () => {
    const before = recovered;
    // A call that was answered tells that the connection had worked, so that the next one comes at once.
    await client.ping();
    server.pipes.pop()?.end();
    server.pipes.length = 0;
    while (recovered === before) await new Promise((resolve) => setImmediate(resolve));
  };
  for (let round = 0; round < 500; round++) await reconnect();
  const before = liveBytes();
  for (let round = 0; round < 3000; round++) await reconnect();
  expect(liveBytes() - before).toBeLessThan(1_000_000);
  await client.close();
});
