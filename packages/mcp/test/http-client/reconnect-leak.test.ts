import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import type { Sender, SendResponse } from "../../src/http/http.js";
import { httpTransport } from "../../src/transport/http/client/client.js";
import { recordingReceiver } from "./recording-receiver.js";
import { until, virtualTime } from "./virtual-time.js";

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

it("10,000 reconnects of one standing stream leave nothing behind (R7)", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const time = virtualTime();
  let gets = 0;
  const sender: Sender = (_request, onResponse) => {
    gets++;
    queueMicrotask(() => onResponse(oneEvent));
    return () => gets--;
  };
  const transport = httpTransport("http://127.0.0.1/mcp", { sender, platform: time.platform });
  let heard = 0;
  await transport.open({ ...recordingReceiver(), notification: () => void heard++ });
  transport.established?.({ headers: {}, hasSessions: true });
  let before = 0;
  for (let round = 1; round <= 10_500; round++) {
    // The first rounds pay for compiled code.
    if (round === 500) {
      collect();
      before = process.memoryUsage().heapUsed;
    }
    for (let turn = 0; time.pending() === 0 && turn < 100; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    time.next();
  }
  collect();
  const growth = (process.memoryUsage().heapUsed - before) / 1024 / 1024;
  await until(() => heard >= 10_000);
  expect(gets).toBeGreaterThanOrEqual(10_000);
  expect(growth).toBeLessThanOrEqual(1);
  await transport.close();
  expect(time.pending()).toBe(0);
});
