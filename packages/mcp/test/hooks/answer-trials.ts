import { type ClientOptions, consent, Server, type ServerHandler } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import { nodeWebSocketTransport, serveSocket, serveWebSocket, socketTransport } from "@parley/mcp/node";
import { type SkillDefinition, skill, skills } from "@parley/mcp/skills";
import { recordedTransport } from "@parley/mcp/testing";
import { httpTransport, webSocketTransport } from "@parley/mcp/transport";
import { APP_ANSWER_TRIALS } from "./app-trials.js";
import { AUTH_TRIALS } from "./auth-trials.js";
import { CONFIG_TRIALS } from "./config-trials.js";
import { EXTENSION_ANSWER_TRIALS } from "./extension-trials.js";
import { HOST_ANSWER_TRIALS } from "./host-trials.js";
import { REGISTRY_ANSWER_TRIALS } from "./registry-trials.js";
import { SOURCE_ANSWER_TRIALS } from "./source-trials.js";
import { SUPERVISION_ANSWER_TRIALS } from "./supervision-trials.js";
import { add, emptyServer, type Failing, outcome, overHttp, plainServer, type Trial, withClient } from "./trial.js";

const REVISIONS: ClientOptions["revisions"][] = [["2026-07-28"], ["2025-11-25"]];

/** The same in both eras, which must agree. */
async function inBothEras(trial: (revisions: ClientOptions["revisions"]) => Promise<string>): Promise<string> {
  const [modern = "", sessions = ""] = [await trial(REVISIONS[0]), await trial(REVISIONS[1])];
  return modern === sessions ? modern : `${modern}; with sessions ${sessions}`;
}

const calling = (server: Server, options: ClientOptions = {}) =>
  inBothEras((revisions) => withClient(server, { ...options, revisions }, (client) => client.callTool("t", {})));

const asking =
  (question: "elicit" | "sample" | "roots", option: "onElicit" | "onSample" | "roots"): Trial =>
  (fail) => {
    const server = emptyServer().tool("t", {}, async (_args, ctx) => {
      if (question === "elicit") await ctx.elicit("Who?", { type: "object", properties: { name: { type: "string" } } });
      else if (question === "sample") await ctx.sample({ messages: [], maxTokens: 1 });
      else await ctx.roots();
      return "answered";
    });
    return calling(server, { [option]: fail });
  };

/** A server of a session asks by a method of its own; says what it was answered. */
const asked: Trial = async (fail) => {
  let answered: (code: string) => void = () => {};
  const answer = new Promise<string>((resolve) => {
    answered = resolve;
  });
  const transport = recordedTransport({
    server: plainServer(),
    onSent: ({ id, error }) => id === "q" && answered(`error ${error?.code}`),
  });
  const ended = await withClient(transport, { revisions: ["2025-11-25"], handlers: { "acme/ask": fail } }, () => {
    transport.inject({ jsonrpc: "2.0", id: "q", method: "acme/ask" });
    return answer;
  });
  return ended === "fine" ? answer : ended;
};

const generating =
  (change: (fail: Failing) => Partial<SkillDefinition>, path: string): Trial =>
  (fail) => {
    const made = skill({ name: "s", description: "d", body: "", ...change(fail) });
    return withClient(emptyServer({ extensions: [skills(made)] }), {}, (client) =>
      client.readResource(`skill://s/${path}`),
    );
  };

const status = async (url: string): Promise<string> => `status ${(await fetch(url)).status}`;
const POST = {
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
  body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
};
const posted = async (url: string): Promise<string> => `status ${(await fetch(url, POST)).status}`;

const authenticating: Trial = (fail) => overHttp({ authenticate: fail }, posted);

const consenting =
  (hook: "beforeToolCall" | "beforeResourceRead" | "beforePrompt"): Trial =>
  (fail) =>
    withClient(plainServer().use(consent({ [hook]: fail })), {}, (client) =>
      hook === "beforeToolCall"
        ? add(client)
        : hook === "beforePrompt"
          ? client.getPrompt("p", {})
          : client.readResource("r://a"),
    );

const handler: ServerHandler = {
  listTools: () => [{ name: "t", inputSchema: { type: "object" } }],
  callTool: () => "done",
  listResources: () => [],
  listResourceTemplates: () => [],
  readResource: () => "text",
  listPrompts: () => [],
  getPrompt: () => "text",
  complete: () => [],
};

const handling =
  (method: keyof ServerHandler): Trial =>
  (fail) =>
    withClient(Server.from({ ...handler, [method]: fail }, { name: "h", version: "1" }), {}, (client) => {
      if (method === "callTool") return client.callTool("t", {});
      if (method === "readResource") return client.readResource("r://a");
      if (method === "getPrompt") return client.getPrompt("p", {});
      if (method === "complete") return client.complete({ prompt: "p" }, { name: "a", value: "" });
      if (method === "listPrompts") return client.listPrompts();
      if (method === "listResources") return client.listResources();
      if (method === "listResourceTemplates") return client.listResourceTemplates();
      return client.listTools();
    });

const completing = (server: Server) =>
  withClient(server, {}, (client) => client.complete({ prompt: "p" }, { name: "a", value: "" }));

const completeTemplate: Trial = (fail) =>
  withClient(
    emptyServer().resourceTemplate("r://{a}", { complete: { a: fail } }, () => ""),
    {},
    (client) => client.complete({ resource: "r://{a}" }, { name: "a", value: "" }),
  );

const tool: Trial = (fail) => calling(emptyServer().tool("t", {}, fail));
const prompt: Trial = (fail) =>
  withClient(emptyServer().prompt("p", {}, fail), {}, (client) => client.getPrompt("p", {}));
const resource: Trial = (fail) =>
  withClient(emptyServer().resource("r://a", {}, fail), {}, (client) => client.readResource("r://a"));
const template: Trial = (fail) =>
  withClient(emptyServer().resourceTemplate("r://{x}", {}, fail), {}, (client) => client.readResource("r://a"));

/** A question of a session is answered by an error, which the tool may catch; otherwise the client ends its own call. */
const ASKED = "error misuse; with sessions tool error";

/** Functions whose result somebody waits for: it gets an error of the protocol or of the library, and nothing hangs. */
export const ANSWER_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "Client.use(middleware)": [
    (fail) => withClient(plainServer(), {}, (client) => add(client.use(fail))),
    "bare Error: boom",
  ],
  "ClientOptions.fetch": [
    (fail) => overHttp({}, (url) => withClient(url, { fetch: fail }, add)),
    "error connection_closed",
  ],
  "HttpTransportOptions.fetch": [
    (fail) => overHttp({}, (url) => withClient(httpTransport(url, { fetch: fail }), {}, add)),
    "error connection_closed",
  ],
  "ClientOptions.sender": [
    (fail) => overHttp({}, (url) => withClient(url, { sender: fail }, add)),
    "error connection_closed",
  ],
  "HttpTransportOptions.sender": [
    (fail) => overHttp({}, (url) => withClient(httpTransport(url, { sender: fail }), {}, add)),
    "error connection_closed",
  ],
  "ClientOptions.handlers": [asked, "error -32603"],
  "ClientOptions.onElicit": [asking("elicit", "onElicit"), ASKED],
  "ClientOptions.onSample": [asking("sample", "onSample"), ASKED],
  "ClientOptions.roots": [asking("roots", "roots"), ASKED],
  "ConsentHooks.beforeToolCall": [consenting("beforeToolCall"), "error internal_error"],
  "ConsentHooks.beforeResourceRead": [consenting("beforeResourceRead"), "error internal_error"],
  "ConsentHooks.beforePrompt": [consenting("beforePrompt"), "error internal_error"],
  "AuthenticationOptions.authenticate": [authenticating, "status 500"],
  "AuthenticationOptions.authenticate, sockets": [
    async (fail) => {
      const handle = await serveSocket(plainServer(), { port: 0 }, { authenticate: fail });
      const { port } = new URL(handle.url);
      const ended = await withClient(socketTransport({ port: Number(port) }), {}, add);
      await handle.close();
      return ended;
    },
    "error connection_closed",
  ],
  "AuthenticationOptions.authenticate, WebSocket": [
    async (fail) => {
      const handle = await serveWebSocket(plainServer(), { port: 0, authenticate: fail });
      const ended = await withClient(nodeWebSocketTransport(handle.url), {}, add);
      await handle.close();
      return ended;
    },
    "error connect_failed",
  ],
  "HttpServerOptions.challenge": [
    (fail) => {
      const server = emptyServer().tool("t", { scopes: ["write"] }, () => "");
      const authenticate = () => ({ key: "ada", scopes: [] });
      return overHttp(
        { authenticate, challenge: fail },
        (url) => withClient(url, {}, (client) => client.callTool("t", {})),
        server,
      );
    },
    "error insufficient_scope",
  ],
  "HttpServerOptions.isHealthy": [
    (fail) => overHttp({ isHealthy: fail }, (url) => status(url.replace("/mcp", "/health"))),
    "status 503",
  ],
  "SkillDefinition.body": [generating((body) => ({ body }), "SKILL.md"), "error internal_error"],
  "SkillDefinition.files": [generating((file) => ({ files: { x: file } }), "x"), "error internal_error"],
  "WebSocketTransportOptions.openWebSocket, Node": [
    (fail) => withClient(nodeWebSocketTransport("ws://127.0.0.1:9", { openWebSocket: fail }), {}, add),
    "error internal_error",
  ],
  "WebSocketTransportOptions.openWebSocket": [
    (fail) => withClient(webSocketTransport("ws://127.0.0.1:9", { openWebSocket: fail }), {}, add),
    "error internal_error",
  ],
  "ToolDefinition.visibleTo": [
    (fail) => calling(emptyServer().tool("t", { visibleTo: fail }, () => "")),
    "error invalid_params",
  ],
  "PromptDefinition.visibleTo": [
    (fail) =>
      withClient(
        emptyServer().prompt("p", { visibleTo: fail }, () => ""),
        {},
        (client) => client.getPrompt("p", {}),
      ),
    "error invalid_params",
  ],
  "CommonDefinition.visibleTo": [
    (fail) =>
      withClient(
        emptyServer().resource("r://a", { visibleTo: fail }, () => ""),
        {},
        (client) => client.readResource("r://a"),
      ),
    "error resource_not_found",
  ],
  "CommonDefinition.visibleTo, template": [
    (fail) =>
      withClient(
        emptyServer().resourceTemplate("r://{x}", { visibleTo: fail }, () => ""),
        {},
        (client) => client.readResource("r://a"),
      ),
    "error resource_not_found",
  ],
  "ResourceTemplateDefinition.list": [
    (fail) =>
      withClient(
        emptyServer().resourceTemplate("r://{x}", { list: fail }, () => ""),
        {},
        (client) => client.listResources(),
      ),
    "error internal_error",
  ],
  "ResourceTemplateDefinition.complete": [completeTemplate, "error internal_error"],
  "PromptDefinition.complete": [
    (fail) => completing(emptyServer().prompt("p", { arguments: { a: {} }, complete: { a: fail } }, () => "")),
    "error internal_error",
  ],
  "PromptArgumentDefinition.complete": [
    (fail) => completing(emptyServer().prompt("p", { arguments: { a: { complete: fail } } }, () => "")),
    "error internal_error",
  ],
  "ServerOptions.toJsonSchema": [
    (fail) =>
      outcome(() => {
        const input = {
          "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) },
        } as const;
        emptyServer({ toJsonSchema: fail }).tool("t", { input }, () => "");
      }),
    "error invalid_schema",
  ],
  "ToolUi.html": [
    (fail) =>
      withClient(
        emptyServer({ extensions: [apps()] }).tool("t", { ui: { uri: "ui://t", html: fail } }, () => ""),
        {},
        (client) => client.readResource("ui://t"),
      ),
    "error internal_error",
  ],
  "Server.use(middleware)": [(fail) => withClient(plainServer().use(fail), {}, add), "error internal_error"],
  "Server.tool(handler)": [tool, "tool error"],
  "Server.prompt(handler)": [prompt, "error internal_error"],
  "Server.resource(read)": [resource, "error internal_error"],
  "Server.resourceTemplate(read)": [template, "error internal_error"],
  "HandlerContext.step(work)": [
    (fail) => calling(emptyServer().tool("t", {}, (_args, ctx) => ctx.step("one", fail))),
    "tool error",
  ],
  "Server.handle(handler)": [
    (fail) => withClient(emptyServer().handle("acme/go", fail), {}, (client) => client.request("acme/go")),
    "error internal_error",
  ],
  "ServerHandler.subscribe": [
    (fail) => {
      const server = Server.from({ ...handler, subscribe: fail }, { name: "h", version: "1" });
      return withClient(server, {}, (client) => client.subscribe("r://a"));
    },
    "error capability_missing",
  ],
  "ServerHandler.init": [handling("init"), "error internal_error"],
  "ServerHandler.callTool": [handling("callTool"), "tool error"],
  "ServerHandler.complete": [handling("complete"), "error internal_error"],
  "ServerHandler.getPrompt": [handling("getPrompt"), "error internal_error"],
  "ServerHandler.listPrompts": [handling("listPrompts"), "error internal_error"],
  "ServerHandler.listResourceTemplates": [handling("listResourceTemplates"), "error internal_error"],
  "ServerHandler.listResources": [handling("listResources"), "error internal_error"],
  "ServerHandler.listTools": [handling("listTools"), "error internal_error"],
  "ServerHandler.readResource": [handling("readResource"), "error internal_error"],
  "ServerHandler.terminate": [
    async (fail) => {
      const server = Server.from({ ...handler, terminate: fail }, { name: "h", version: "1" });
      await withClient(server, {}, (client) => client.listTools());
      return outcome(() => server.close());
    },
    "bare Error: boom",
  ],
  ...APP_ANSWER_TRIALS,
  ...EXTENSION_ANSWER_TRIALS,
  ...SOURCE_ANSWER_TRIALS,
  ...SUPERVISION_ANSWER_TRIALS,
  ...REGISTRY_ANSWER_TRIALS,
  ...HOST_ANSWER_TRIALS,
  ...AUTH_TRIALS,
  ...CONFIG_TRIALS,
};
