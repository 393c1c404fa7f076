import type { ServerResponse } from "node:http";
import { ERAS } from "../../engine/opened-engine.js";
import { type PostedJson as Json, type PostedJsonServer, servePostedJson } from "../../kit/posted-json.js";

/** A server that asks whatever its client names, also what no library would send, and keeps what it is answered. */
export interface AskingServer extends PostedJsonServer {
  /** Answers to its questions, as they came: results, or errors. */
  readonly answers: unknown[];
}

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
  const server = await servePostedJson((message, request, response) => {
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
  return { ...server, answers };
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
