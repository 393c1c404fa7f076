import {
  type Client,
  connect,
  fetchHandler,
  McpError,
  prompt,
  resource,
  resourceTemplate,
  Server,
  tool,
} from "@parley/mcp";
import {
  nodeHandler,
  nodeWebSocketTransport,
  serveHttp,
  serveSocket,
  serveStdio,
  serveWebSocket,
  socketTransport,
  stdioTransport,
} from "@parley/mcp/node";
import { memoryStorage } from "@parley/mcp/storage";
import { channelPair } from "@parley/mcp/testing";
import { httpTransport, messagePortChannel, serveChannel, webSocketTransport } from "@parley/mcp/transport";
import { describe, expect, it } from "vitest";

const info = { name: "s", version: "1" };
const server = new Server(info).tool("t", () => "ok");
// Programs without types pass anything.
const wrong = (options: object) => options as never;
const socket = { path: "/nowhere/parley.sock" };

/** What is called with options that do not exist, the options, and what the message names. */
const uses: [string, (options: never) => unknown, object, string][] = [
  ["new Server", (options) => new Server(info, options), { instruction: "" }, "instructions"],
  ["new Server, capabilities", (options) => new Server(info, options), { capabilities: {} }, "capabilities"],
  ["new Server, info", (more) => new Server({ ...info, ...(more as object) }), { titel: "" }, "title"],
  ["new Server, limits", (limits) => new Server(info, { limits }), { round: 1 }, "rounds"],
  ["new Server, tools", (tools) => new Server(info, { tools }), { timeout: 1 }, "timeoutMs"],
  ["new Server, cache", (cache) => new Server(info, { cache }), { ttl: 1 }, "ttlMs"],
  ["Server.from", (options) => Server.from({}, info, options), { instruction: "" }, "instructions"],
  ["tool", (definition) => new Server(info).tool("t", definition, () => ""), { inputSchema: {} }, "input"],
  [
    "tool as a value",
    (definition) => new Server(info).add(tool("t", definition, () => "")),
    { outputSchema: {} },
    "output",
  ],
  [
    "tool, annotations",
    (annotations) => new Server(info).tool("t", { annotations }, () => ""),
    { readOnly: true },
    "readOnlyHint",
  ],
  [
    "resource",
    (definition) => new Server(info).add(resource("a://b", definition, () => "")),
    { mimetype: "" },
    "mimeType",
  ],
  [
    "resource template",
    (definition) => new Server(info).add(resourceTemplate("a://{b}", definition, () => "")),
    { lists: 1 },
    "list",
  ],
  ["prompt", (definition) => new Server(info).add(prompt("p", definition, () => "")), { argsSchema: {} }, "arguments"],
  [
    "argument of a prompt",
    (a) => new Server(info).prompt("p", { arguments: { a } }, () => ""),
    { require: true },
    "required",
  ],
  ["fetchHandler", (options) => fetchHandler(server, options), { allowedHost: [] }, "allowedHosts"],
  ["fetchHandler, storage", (options) => fetchHandler(server, options), { storage: {} }, "storage"],
  ["fetchHandler, cors", (cors) => fetchHandler(server, { cors }), { origin: "*" }, "origins"],
  ["fetchHandler, limits", (limits) => fetchHandler(server, { limits }), { maxSession: 1 }, "maxSessions"],
  ["nodeHandler", (options) => nodeHandler(server, options), { sessionIdGenerator: undefined }, "sessions"],
  ["serveHttp", (options) => serveHttp(server, options), { prot: 3000 }, "port"],
  ["serveHttp, times", (times) => serveHttp(server, { port: 0, times }), { keepAlive: 1 }, "keepAliveMs"],
  ["serveStdio", (options) => serveStdio(server, options), { exits: false }, "exit"],
  ["serveSocket", (options) => serveSocket(server, socket, options), { maxConnection: 1 }, "maxConnections"],
  ["serveWebSocket", (options) => serveWebSocket(server, options), { prot: 0 }, "port"],
  ["serveChannel", (options) => serveChannel(server, channelPair()[0], options), { maxInflight: 1 }, "maxInFlight"],
  ["connect", (options) => connect(server, options), { onElicitt: () => {} }, "onElicit"],
  ["connect, info", (options) => connect(server, options), { info }, "name"],
  ["connect, timeouts", (timeouts) => connect(server, { timeouts }), { connect: 5 }, "connectMs"],
  ["connect, cache", (cache) => connect(server, { cache }), { entry: 5 }, "entries"],
  ["httpTransport", (options) => httpTransport("http://127.0.0.1:1", options), { requestInit: {} }, "headers"],
  [
    "webSocketTransport",
    (options) => webSocketTransport("ws://127.0.0.1:1", options),
    { maxMessageByte: 1 },
    "maxMessageBytes",
  ],
  [
    "nodeWebSocketTransport",
    (options) => nodeWebSocketTransport("ws://127.0.0.1:1", options),
    { header: {} },
    "headers",
  ],
  ["socketTransport", (options) => socketTransport(socket, options), { frame: "" }, "framing"],
  ["stdioTransport", (options) => stdioTransport(options), { command: "x", arg: [] }, "args"],
  [
    "messagePortChannel",
    (options) => messagePortChannel({ postMessage() {} }, options),
    { maxQueued: 1 },
    "maxQueuedBytes",
  ],
  ["memoryStorage", (options) => memoryStorage(options), { limit: {} }, "limits"],
  ["memoryStorage, limits", (limits) => memoryStorage({ limits }), { maxKey: 1 }, "maxKeys"],
];

/** What the use threw or rejected with; nothing that it opened stays open. */
async function refusalOf(use: () => unknown): Promise<McpError> {
  const error = await Promise.resolve()
    .then(use)
    .then(
      () => new Error("it was accepted"),
      (thrown: unknown) => thrown,
    );
  if (McpError.is(error)) return error;
  throw error;
}

describe("an option that does not exist", () => {
  it.each(uses)("is refused by %s, which names what was meant", async (_what, use, options, meant) => {
    const { kind, message, fix } = await refusalOf(() => use(wrong(options)));
    expect(kind).toBe("invalid_definition");
    expect(message).toMatch(/"\w+" is not an option of /);
    expect(`${message} ${fix}`).toContain(meant);
  });

  it("is refused by every call of a client, and by the program that `connect` starts", async () => {
    const client: Client = await connect(server);
    const calls = [
      () => client.call("t", {}, wrong({ timeout: 5 })),
      () => client.callTool("t", {}, wrong({ timeouts: { idle: 5 } })),
      () => client.listTools(undefined, wrong({ signl: 1 })),
      () => client.request("ping", {}, wrong({ onprogress: () => {} })),
      () => connect(wrong({ command: "node", argument: [] })),
    ];
    for (const call of calls) expect(await refusalOf(call)).toMatchObject({ kind: "invalid_definition" });
    expect(await client.call("t", {}, { timeouts: { idleMs: 1000 } })).toBe("ok");
    await client.close();
  });
});
