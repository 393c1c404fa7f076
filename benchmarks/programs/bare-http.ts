// The limit for HTTP: `node:http` and JSON, and nothing of the protocol but the shape of its answer.
import type { IncomingMessage, ServerResponse } from "node:http";
import { listen } from "../rounds.mjs";
import { type BareMessage, otherAnswer, plainAnswer, tunedAnswer } from "./bare-message.js";

const JSON_HEADERS = ["content-type", "application/json", "content-length"];

function plain(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const message = JSON.parse(Buffer.concat(chunks).toString()) as BareMessage;
    if (message.method !== "tools/call") return other(message, response);
    const body = plainAnswer(message);
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
}

/** As `plain`, by an event stream with a report of progress before the answer. */
function events(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const message = JSON.parse(Buffer.concat(chunks).toString()) as BareMessage;
    if (message.method !== "tools/call") return other(message, response);
    const params = { progressToken: message.id, progress: 1, total: 2 };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params })}\n\n`);
    response.end(`data: ${plainAnswer(message)}\n\n`);
  });
}

/** Answers of one turn of the event loop. */
let waiting: { response: ServerResponse; body: string }[] = [];

function tuned(request: IncomingMessage, response: ServerResponse): void {
  let text = "";
  request.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  request.on("end", () => {
    const message = JSON.parse(text) as BareMessage;
    if (message.method !== "tools/call") return other(message, response);
    if (waiting.push({ response, body: tunedAnswer(message) }) === 1) setImmediate(flush);
  });
}

function flush(): void {
  const answers = waiting;
  waiting = [];
  for (const { response, body } of answers) {
    response.writeHead(200, [...JSON_HEADERS, String(body.length)]);
    response.end(body);
  }
}

function other(message: BareMessage, response: ServerResponse): void {
  if (message.id === undefined) return void response.writeHead(202).end();
  if (message.method === "subscriptions/listen") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}\n\n`);
    return;
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.end(otherAnswer(message));
}

const answers = { plain, tuned, events };
const answer = answers[(process.argv[2] ?? "plain") as keyof typeof answers];

listen((request, response) => {
  // Some clients ask for a standing stream, which is a GET.
  if (request.method === "POST") answer(request, response);
  else response.writeHead(405).end();
});
