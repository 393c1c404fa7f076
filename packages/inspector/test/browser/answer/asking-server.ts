import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ERAS } from "../../engine/opened-engine.js";

/** A server that asks whatever its client names, also what no library would send, and keeps what it is answered. */
export interface AskingServer {
  readonly url: string;
  /** Answers to its questions, as they came: results, or errors. */
  readonly answers: unknown[];
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;
type Send = (message: Json) => void;

const [SESSIONS, STATELESS] = ERAS;
const INFO = { name: "asking", version: "1" };
const CAPABILITIES = { tools: {} };
const HINTS = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
/** Its tool `visit` wants the page of its argument `url` to be visited. */
const TOOLS = [
  { name: "visit", inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] } },
];

/** Starts it on this machine. It speaks both eras in raw HTTP. */
export async function startAskingServer(): Promise<AskingServer> {
  const answers: unknown[] = [];
  const waiting = new Map<unknown, () => void>();
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = await bodyOf(request);
    if (message["method"] === undefined || message["id"] === undefined) {
      response.writeHead(202).end();
      if (message["id"] === undefined) return;
      answers.push(message["result"] ?? message["error"]);
      return waiting.get(message["id"])?.();
    }
    const reply = (result: Json) => answer(response, { jsonrpc: "2.0", id: message["id"], result });
    if (request.headers["mcp-protocol-version"] === STATELESS) return reply(statelessResult(message, answers));
    if (message["method"] !== "tools/call") return reply(sessionResult(message));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send: Send = (each) => response.write(`data: ${JSON.stringify(each)}\n\n`);
    const id = `question-${answers.length}`;
    waiting.set(id, () => {
      send({ jsonrpc: "2.0", id: message["id"], result: outcomeOf(answers) });
      response.end();
    });
    send({ jsonrpc: "2.0", id, ...questionOf(message) });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    // It listens on a port, so the address is no path.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    answers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  // The clients of tests send objects.
  return JSON.parse(body) as Json;
}

function answer(response: ServerResponse, message: Json): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
}

const outcomeOf = (answers: readonly unknown[]) => ({
  content: [{ type: "text", text: `answered: ${JSON.stringify(answers.at(-1))}` }],
});

function questionOf(message: Json): Json {
  const { arguments: given } = message["params"] as { arguments: { url: string } };
  const params = { mode: "url", message: "Look here", url: given.url, elicitationId: "page-1" };
  return { method: "elicitation/create", params };
}

function sessionResult({ method }: Json): Json {
  if (method === "tools/list") return { tools: TOOLS };
  return method === "initialize" ? { protocolVersion: SESSIONS, capabilities: CAPABILITIES, serverInfo: INFO } : {};
}

function statelessResult(message: Json, answers: unknown[]): Json {
  const { method, params } = message;
  const { inputResponses } = (params ?? {}) as { inputResponses?: { page: unknown } };
  if (method === "tools/list") return { ...HINTS, tools: TOOLS };
  if (method === "tools/call" && inputResponses === undefined) {
    return { resultType: "input_required", inputRequests: { page: questionOf(message) }, requestState: "asked" };
  }
  if (method === "tools/call") {
    answers.push(inputResponses?.page);
    return { resultType: "complete", ...outcomeOf(answers) };
  }
  const _meta = { "io.modelcontextprotocol/serverInfo": INFO };
  return { ...HINTS, supportedVersions: [STATELESS], capabilities: CAPABILITIES, _meta };
}
