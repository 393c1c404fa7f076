import { ERAS } from "../../engine/opened-engine.js";
import { type PostedJson as Json, type PostedJsonServer, servePostedJson } from "../../kit/posted-json.js";

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
  large: { answer: { result: { content: [text("fine ".repeat(1_000_000)), { type: "text", text: 12 }] } } },
  many: {
    answer: { result: { content: [{ ...text("fine"), annotations: { audience: new Array(90_000).fill("user") } }] } },
  },
};

/** Starts a server in raw HTTP and in both eras. Its tools break the published schema, each at one place but `right` and `many`. */
export function startFaultyServer(): Promise<PostedJsonServer> {
  return servePostedJson(({ id, method, params }, request, response) => {
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
