import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { ERAS } from "../../engine/opened-engine.js";

/** A server whose tools break the published schema, each at one place, and one that keeps to it. */
export interface FaultyServer {
  readonly url: string;
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;

const [SESSIONS, STATELESS] = ERAS;
const INFO = { name: "faulty", version: "1" };
const CAPABILITIES = { tools: {}, logging: {} };
const HINTS = { ttlMs: 0, cacheScope: "private" };
const text = (words: string) => ({ type: "text", text: words });

/** What is sent for a call of each tool: messages on the way, and the members of the answer. */
const ANSWERS: Readonly<Record<string, { readonly before?: readonly Json[]; readonly answer: Json }>> = {
  right: { answer: { result: { content: [text("fine")] } } },
  "no-content": { answer: { result: { words: "fine" } } },
  "wrong-block": { answer: { result: { content: [text("fine"), { type: "text", text: 12 }] } } },
  "wrong-flag": { answer: { result: { content: [text("fine")], isError: "no" } } },
  "wrong-error": { answer: { error: { code: "E12", message: "it failed" } } },
  "wrong-log": {
    before: [{ method: "notifications/message", params: { level: "loud", data: "fine" } }],
    answer: { result: { content: [text("fine")] } },
  },
};

/** Starts it on this machine, in raw HTTP and in both eras. */
export async function startFaultyServer(): Promise<FaultyServer> {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = await bodyOf(request);
    if (id === undefined) return void response.writeHead(202).end();
    const isStateless = request.headers["mcp-protocol-version"] === STATELESS;
    const { before = [], answer } = answerTo(String(method), String((params as Json | undefined)?.["name"]));
    const { result } = answer;
    const whole =
      result === undefined || !isStateless ? answer : { result: { resultType: "complete", ...(result as Json) } };
    const lines = [...before, { id, ...whole }].map(
      (each) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...each })}\n\n`,
    );
    response.writeHead(200, { "content-type": "text/event-stream" }).end(lines.join(""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    // It listens on a port, so the address is no path.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
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

function answerTo(method: string, name: string): { readonly before?: readonly Json[]; readonly answer: Json } {
  switch (method) {
    case "initialize":
      return { answer: { result: { protocolVersion: SESSIONS, capabilities: CAPABILITIES, serverInfo: INFO } } };
    case "server/discover": {
      const _meta = { "io.modelcontextprotocol/serverInfo": INFO };
      return { answer: { result: { ...HINTS, supportedVersions: [STATELESS], capabilities: CAPABILITIES, _meta } } };
    }
    case "tools/list": {
      const tools = Object.keys(ANSWERS).map((tool) => ({ name: tool, inputSchema: { type: "object" } }));
      // A description that is no text, beside right ones.
      return { answer: { result: { ...HINTS, tools: [...tools, { ...tools[0], name: "listed", description: 7 }] } } };
    }
    case "tools/call":
      return ANSWERS[name] ?? { answer: { error: { code: -32602, message: "there is no such tool" } } };
    default:
      return { answer: { result: {} } };
  }
}
