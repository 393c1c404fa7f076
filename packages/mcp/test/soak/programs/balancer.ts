// A balancer that sends each request to the next replica, whoever asks: no stickiness, no health checks, no retries.
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerCommands, settingsOf } from "./answer-commands.js";

export interface BalancerSettings {
  readonly ports: readonly number[];
}

const { ports } = settingsOf<BalancerSettings>();
const streams = new Set<ServerResponse>();
let turn = 0;
let refused = 0;

function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const port = ports[turn++ % ports.length] ?? 0;
  const { method = "GET", url = "/", headers } = incoming;
  // A connection for each request: whether a reused one still works would be another question.
  const onward = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.flushHeaders();
    if (answer.headers["content-type"]?.startsWith("text/event-stream") === true) streams.add(outgoing);
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
    answer.on("close", () => {
      if (!answer.complete) outgoing.destroy();
    });
  });
  onward.on("error", () => {
    refused++;
    if (outgoing.headersSent) return void outgoing.destroy();
    outgoing.writeHead(502, { "content-type": "text/plain" }).end("no replica answered");
  });
  incoming.pipe(onward);
  outgoing.on("error", () => {});
  outgoing.on("close", () => {
    streams.delete(outgoing);
    onward.destroy();
  });
}

const server = createServer({ requestTimeout: 0 }, pass);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
// A server that listens on TCP has an address object.
const { port } = server.address() as AddressInfo;

answerCommands(
  { port },
  {
    requests: () => turn,
    refused: () => refused,
    open: () => streams.size,
  },
);
