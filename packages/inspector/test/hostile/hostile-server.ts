import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type HostileOffers, hostileOffers } from "./hostile-offers.js";
import { questionOf } from "./hostile-questions.js";

/** A server that puts scripts, addresses and far too much into everything, over HTTP and in both eras. */
export interface HostileServer {
  readonly url: string;
  /** Requests that reached the address which nobody must ask. */
  readonly arrivals: readonly string[];
  close(): Promise<void>;
}

const SESSIONS = "2025-11-25";
const STATELESS = "2026-07-28";
/** How long the tool `nags` leaves its user alone. */
const NAG_MS = 100;
/** Messages of one answer of the tool `flood`. */
export const FLOOD = 100_000;

/** Starts it on this machine. `tools` are offered beside those with payloads. */
export async function startHostileServer({ tools = 0, flood = FLOOD } = {}): Promise<HostileServer> {
  const arrivals: string[] = [];
  const outside = createServer((request, response) => {
    arrivals.push(`${request.method} ${request.url}`);
    response.setHeader("access-control-allow-origin", "*").end();
  });
  const outsidePort = await listen(outside);
  const address = `http://127.0.0.1:${outsidePort}`;
  const behaviour: Behaviour = { offers: hostileOffers(address, tools), outside: address, flood, asked: new Map() };
  const server = createServer((request, response) => void answer(request, response, behaviour));
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    arrivals,
    async close() {
      for (const one of [server, outside]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
    },
  };
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Listening on a port, so the address is no path.
  return (server.address() as AddressInfo).port;
}

interface Behaviour {
  readonly offers: HostileOffers;
  readonly outside: string;
  readonly flood: number;
  /** What goes on when a question of this id is answered. */
  readonly asked: Map<unknown, () => void>;
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

async function answer(request: IncomingMessage, response: ServerResponse, behaviour: Behaviour) {
  const { offers, flood } = behaviour;
  if (request.method !== "POST") return void response.writeHead(405).end();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
  if (message.id === undefined || message.method === undefined) {
    response.writeHead(202).end();
    return behaviour.asked.get(message.id)?.();
  }
  const era = request.headers["mcp-protocol-version"] === STATELESS ? STATELESS : SESSIONS;
  const result = resultFor(message.method ?? "", message.params ?? {}, offers);
  const body =
    result === undefined
      ? { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: offers.instructions } }
      : { jsonrpc: "2.0", id: message.id, result: era === STATELESS ? { resultType: "complete", ...result } : result };
  if (message.method === "tools/call") {
    const tool = message.params?.["name"];
    if (tool === "flood") return stream(response, body, flood, offers.instructions);
    if (tool === "progress") return report(response, message, offers.instructions);
    if (tool === "nags") return nag(response, behaviour.outside);
    if (ask(response, message, body, era, behaviour)) return;
  }
  response.writeHead(200, { "content-type": "application/json", "x-evil": "<script>hacked = true</script>" });
  response.end(JSON.stringify(body));
}

/** Asks what the tool asks, before the answer; false for tools that ask nothing, and where it was answered. */
function ask(response: ServerResponse, message: Message, answer: object, era: string, behaviour: Behaviour): boolean {
  const question = questionOf(String(message.params?.["name"]), behaviour.outside);
  if (question === undefined || message.params?.["inputResponses"] !== undefined) return false;
  if (era === STATELESS) {
    const result = { resultType: "input_required", inputRequests: { question }, requestState: "asked" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    return true;
  }
  const id = `question-${behaviour.asked.size}`;
  behaviour.asked.set(id, () => response.end(`data: ${JSON.stringify(answer)}\n\n`));
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, ...question })}\n\n`);
  return true;
}

/** Withdraws its question and asks it again, without end; for sessions. */
function nag(response: ServerResponse, outside: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let last = 0;
  const send = (message: object) => response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  const timer = setInterval(() => {
    send({ method: "notifications/cancelled", params: { requestId: `nag-${last}` } });
    last += 1;
    send({ id: `nag-${last}`, ...questionOf("asks", outside) });
  }, NAG_MS);
  response.once("close", () => clearInterval(timer));
}

/** Reports progress, and never ends. */
function report(response: ServerResponse, { params }: Message, text: string): void {
  const { progressToken } = (params?.["_meta"] ?? {}) as { progressToken?: unknown };
  const progress = { progressToken, progress: 1, total: 2, message: text };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: progress })}\n\n`);
}

/** Sends as many messages as the reader takes, then the answer. */
async function stream(response: ServerResponse, answer: object, count: number, text: string): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let at = 0; at < count && !response.destroyed; at++) {
    const params = { level: "info", data: at % 1_000 === 0 ? text : `message ${at}` };
    const line = JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params });
    if (!response.write(`data: ${line}\n\n`)) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end(`data: ${JSON.stringify(answer)}\n\n`);
}

/** Tools of one answer. */
const PAGE = 1_000;

function pageOf(tools: readonly object[], from: number): Record<string, unknown> {
  const next = from + PAGE;
  return { tools: tools.slice(from, next), ...(next < tools.length ? { nextCursor: String(next) } : {}) };
}

const HINTS = { ttlMs: 0, cacheScope: "private" };

function resultFor(
  method: string,
  params: Record<string, unknown>,
  offers: HostileOffers,
): Record<string, unknown> | undefined {
  const { serverInfo, instructions } = offers;
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} };
  switch (method) {
    case "initialize":
      return { protocolVersion: SESSIONS, capabilities, serverInfo, instructions };
    case "server/discover":
      return {
        ...HINTS,
        supportedVersions: [STATELESS, SESSIONS],
        capabilities,
        instructions,
        _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
      };
    case "tools/list":
      return { ...HINTS, ...pageOf(offers.tools, Number(params["cursor"] ?? 0)) };
    case "resources/list":
      return { ...HINTS, resources: offers.resources };
    case "resources/templates/list":
      return { ...HINTS, resourceTemplates: offers.templates };
    case "prompts/list":
      return { ...HINTS, prompts: offers.prompts };
    case "tools/call":
      return offers.callTool(String(params["name"]));
    case "resources/read":
      return { ...HINTS, ...offers.readResource(String(params["uri"])) };
    case "prompts/get":
      return offers.getPrompt(String(params["name"]));
    case "completion/complete":
      return { completion: { values: [instructions.slice(0, 200)], total: 1, hasMore: false } };
    case "ping":
    case "logging/setLevel":
    case "resources/subscribe":
      return {};
    default:
      return undefined;
  }
}
