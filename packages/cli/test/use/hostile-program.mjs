// A server on stdio that puts characters which act on terminals into everything it says.
const EVIL =
  "\u001b]0;pwned\u0007\u001b[2J\u001b[31;5mred\u009b31m\u0085\u007f\b\r\u0000\u202eevil\u2066\u200f\u061c\u2028x";

process.stderr.write(`${EVIL}\n`);
if (process.argv[2] === "die") process.exit(3);

let next = 1000;
const waiting = new Map();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (method, params) =>
  new Promise((resolve) => {
    waiting.set(++next, resolve);
    send({ id: next, method, params });
  });

const schema = {
  type: "object",
  properties: { [`p${EVIL}`]: { type: "string", description: EVIL, title: EVIL } },
  required: [`p${EVIL}`],
};
const mistyped = { type: "object", properties: { q: { type: EVIL } }, required: ["q"] };
const tool = (name, inputSchema = { type: "object" }) => ({
  name,
  title: EVIL,
  description: `${EVIL}. More`,
  inputSchema,
});
const text = { type: "text", text: `line\n${EVIL}\r\n\tend` };

const tools = {
  blocks: () => ({
    content: [
      text,
      { type: "image", data: "AAAA", mimeType: `image/${EVIL}` },
      { type: "resource_link", uri: `x:${EVIL}`, name: EVIL, title: EVIL, mimeType: EVIL },
      { type: "resource", resource: { uri: `x:${EVIL}`, text: EVIL } },
    ],
    structuredContent: { [EVIL]: EVIL },
  }),
  failing: () => ({ content: [text], isError: true }),
  refusing: () => {
    throw Object.assign(new Error(EVIL), { data: { [EVIL]: EVIL } });
  },
  slow: (token) => {
    for (let progress = 1; progress <= 3; progress++) {
      send({ method: "notifications/progress", params: { progressToken: token, progress, total: 3, message: EVIL } });
    }
    send({ method: "notifications/message", params: { level: "error", logger: EVIL, data: EVIL } });
    return { content: [] };
  },
  form: async () => {
    const properties = {
      ...schema.properties,
      choice: { type: "string", oneOf: [{ const: EVIL, title: EVIL }], title: EVIL, description: EVIL },
    };
    const answer = await ask("elicitation/create", { message: EVIL, requestedSchema: { type: "object", properties } });
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  },
  sampling: async () => {
    const messages = [{ role: "user", content: { type: "text", text: EVIL } }];
    const answer = await ask("sampling/createMessage", { messages, systemPrompt: EVIL, maxTokens: 5 });
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, [EVIL]: { [EVIL]: true } },
    serverInfo: { name: `hostile${EVIL}`, title: EVIL, version: EVIL, websiteUrl: EVIL },
    instructions: EVIL,
  }),
  ping: () => ({}),
  "resources/subscribe": ({ uri }) => {
    setImmediate(() => send({ method: "notifications/resources/updated", params: { uri } }));
    return {};
  },
  "tools/list": () => ({
    tools: [
      ...Object.keys(tools).map((name) => tool(name)),
      tool(`t${EVIL}`, schema),
      tool("needy", schema),
      tool("mistyped", mistyped),
    ],
  }),
  "resources/list": () => ({
    resources: [{ uri: `x:${EVIL}`, name: EVIL, title: EVIL, description: EVIL, mimeType: EVIL }],
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: `x:${EVIL}{a}`, name: EVIL, description: EVIL }],
  }),
  "resources/read": () => ({
    contents: [
      { uri: `x:${EVIL}`, mimeType: EVIL, text: EVIL },
      { uri: EVIL, text: EVIL },
    ],
  }),
  "prompts/list": () => ({
    prompts: [{ name: `p${EVIL}`, title: EVIL, description: EVIL, arguments: [{ name: EVIL, description: EVIL }] }],
  }),
  "prompts/get": () => ({ description: EVIL, messages: [{ role: "user", content: text }] }),
  "completion/complete": () => ({ completion: { values: [EVIL], total: 2, hasMore: true } }),
  "tools/call": ({ name, _meta }) => (tools[name] ?? tools.failing)(_meta?.progressToken),
};

// By hand: the line reader of newer Nodes takes U+2028 inside a message for the end of a line.
let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) void receive(line);
});

async function receive(line) {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(result ?? error);
  if (id === undefined) return undefined;
  try {
    if (methods[method] === undefined) throw new Error(EVIL);
    send({ id, result: await methods[method](params) });
  } catch (reason) {
    send({ id, error: { code: -32603, message: reason.message, data: reason.data } });
  }
}
