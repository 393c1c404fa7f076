import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { type ClientOptions, type Observer, Server, type ServerHandler } from "@parley/mcp";
import { serveSocket, serveWebSocket, stdioTransport } from "@parley/mcp/node";
import { memoryStorage } from "@parley/mcp/storage";
import { logCalls, prometheusMetrics, traceCalls } from "@parley/mcp/telemetry";
import { channelPair } from "@parley/mcp/testing";
import { channelTransport, serveChannel } from "@parley/mcp/transport";
import { WebSocket } from "ws";
import { APP_HOOK_TRIALS } from "./app-trials.js";
import { AUTH_HOOK_TRIALS } from "./auth-trials.js";
import { EXTENSION_HOOK_TRIALS } from "./extension-trials.js";
import { HOST_HOOK_TRIALS } from "./host-trials.js";
import { REGISTRY_HOOK_TRIALS } from "./registry-trials.js";
import { SOURCE_HOOK_TRIALS } from "./source-trials.js";
import { SUPERVISION_HOOK_TRIALS } from "./supervision-trials.js";
import { add, emptyServer, type Failing, outcome, overHttp, plainServer, type Trial, withClient } from "./trial.js";

/** This program, as a server on its stdin and stdout. */
const served = (mode: string) => ({ command: process.execPath, args: [process.argv[1] ?? "", "serve", mode] });
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
/** A revision with sessions, for what later revisions no longer have. */
const SESSIONS: ClientOptions = { revisions: ["2025-11-25"] };
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

const inProcess = (server: Parameters<typeof withClient>[0], options: ClientOptions = {}) =>
  withClient(server, options, add);

const overPipe =
  (option: "onLog" | "onMessage" | "trace"): Trial =>
  (fail) =>
    inProcess(plainServer(), { logLevel: "debug", [option]: fail });

const progress: Trial = (fail) =>
  withClient(plainServer(), {}, (client) => client.callTool("add", {}, { onProgress: fail }));

const subscribing = (server: Server) =>
  withClient(server, {}, async (client) => {
    const subscription = await client.subscribe("r://a");
    await soon();
    await subscription[Symbol.asyncDispose]();
    await soon();
  });

const settingLevel = (server: Server) => withClient(server, SESSIONS, (client) => client.setLogLevel("error"));

const observing =
  (event: keyof Observer): Trial =>
  async (fail) => {
    const server = plainServer();
    server.observe({ [event]: fail });
    if (event !== "refused") return inProcess(server);
    await withClient(server, {}, (client) => client.request("no/such"));
    return inProcess(server);
  };

const following =
  (event: "within" | "ended" | "layer"): Trial =>
  (fail) => {
    const server = plainServer();
    server.observe({ follow: () => ({ [event]: fail }) });
    return inProcess(server);
  };

const logging =
  (level: "info" | "warn" | "error", tool: string): Trial =>
  async (fail) => {
    const server = plainServer({ onError: () => {} }).tool("jams", () => {
      throw new Error("jammed");
    });
    server.observe(logCalls({ info: () => {}, warn: () => {}, error: () => {}, [level]: fail }));
    await withClient(server, {}, (client) => client.callTool(tool as never, {}));
    return "fine";
  };

const gauge: Trial = (fail) => {
  const metrics = prometheusMetrics();
  metrics.gauge("tried", "Tried.", fail as never);
  return outcome(async () => metrics.text());
};

/** What a call in a revision with requests of the server comes to, if it asks. */
const askingFor = (server: Server, observe: ClientOptions["observe"] = []) =>
  withClient(
    server.tool("ask", {}, async (_args, ctx) => `${(await ctx.roots()).length}`),
    { ...SESSIONS, roots: [], observe },
    (client) => client.callTool("ask" as never, {}),
  );

const followingQuestions =
  (follower: (fail: Failing) => object): Trial =>
  (fail) => {
    const server = emptyServer();
    server.observe({ follow: () => ({ question: () => follower(fail) }) });
    return askingFor(server);
  };

const followingAnswers =
  (event: "within" | "ended"): Trial =>
  (fail) =>
    askingFor(emptyServer(), { answer: () => ({ [event]: fail }) });

const followingRequests =
  (event: "within" | "ended" | "content"): Trial =>
  (fail) =>
    withClient(plainServer(), { observe: { request: () => ({ [event]: fail }) } }, add);

const watching =
  (kind: "resource" | "template"): Trial =>
  (fail) =>
    subscribing(
      kind === "resource"
        ? emptyServer({ subscribe: true }).resource("r://a", { watch: fail }, () => "")
        : emptyServer({ subscribe: true }).resourceTemplate("r://{x}", { watch: fail }, () => ""),
    );

const handling =
  (method: "unsubscribe" | "setLogLevel" | "terminate"): Trial =>
  async (fail) => {
    const handler: ServerHandler = {
      listResources: () => [],
      subscribe: () => {},
      setLogLevel: () => {},
      [method]: fail,
    };
    const server = Server.from(handler, { name: "trial", version: "1.0.0" });
    if (method === "setLogLevel") return settingLevel(server);
    if (method !== "terminate") return subscribing(server);
    await withClient(server, {}, (client) => client.listResources());
    return outcome(() => server.close());
  };

/** Sends what is no message, then a ping, and waits for both answers. */
async function faultAndPing(port: number): Promise<string> {
  const socket = connectTcp(port, "127.0.0.1");
  socket.write(`{no message\n${PING}\n`);
  let text = "";
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes('"result":{}')) break;
  }
  socket.destroy();
  return "fine";
}

async function throughStdio(fail: Failing): Promise<string> {
  const { command, args } = served(fail.name);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  let [out, warned] = ["", ""];
  child.stdout.on("data", (chunk) => (out += String(chunk)));
  child.stderr.on("data", (chunk) => (warned += String(chunk)));
  child.stdin.end(`{no message\n${PING}\n`);
  const [code] = await once(child, "close");
  process.stderr.write(warned);
  return code === 0 && out.includes('"result":{}') ? "fine" : `exit ${code}: ${out} ${warned}`;
}

/** Functions whose result nobody needs: their failure is reported, and nothing else happens. */
export const HOOK_TRIALS: Readonly<Record<string, Trial>> = {
  ...APP_HOOK_TRIALS,
  ...EXTENSION_HOOK_TRIALS,
  ...SOURCE_HOOK_TRIALS,
  ...SUPERVISION_HOOK_TRIALS,
  ...REGISTRY_HOOK_TRIALS,
  ...HOST_HOOK_TRIALS,
  ...AUTH_HOOK_TRIALS,
  "CallOptions.onProgress": progress,
  "CallOptions.onProgress, many": (fail) =>
    withClient(plainServer(), {}, (client) => client.callMany([{ name: "add" }], { onProgress: fail })),
  "Client.on(listener)": (fail) =>
    withClient(plainServer(), {}, async (client) => {
      client.on("state", fail);
      await client.close();
    }),
  "ClientOptions.onLog": overPipe("onLog"),
  "ClientOptions.onMessage": overPipe("onMessage"),
  "ClientOptions.onWarning": (fail) =>
    // A warning about another hook, so that there is one.
    inProcess(plainServer(), { onWarning: fail, trace: () => fail() }),
  "ClientOptions.trace": overPipe("trace"),
  "CommandTarget.stderr": (fail) => withClient({ ...served("chatty"), stderr: fail }, {}, add),
  "StdioOptions.stderr": (fail) => withClient(stdioTransport({ ...served("chatty"), stderr: fail }), {}, add),
  "HttpServerOptions.onRequest": (fail) => overHttp({ onRequest: fail }, (url) => inProcess(url)),
  "Observer.started": observing("started"),
  "Observer.ended": observing("ended"),
  "Observer.refused": observing("refused"),
  "Observer.senderRefused": async (fail) => {
    const server = plainServer();
    server.observe({ senderRefused: fail });
    const refused = (url: string) => fetch(url, { method: "POST", body: PING }).then(({ status }) => `${status}`);
    const ended = await overHttp({ authenticate: () => undefined }, refused, server);
    return ended === "401" ? "fine" : `status ${ended}`;
  },
  "Observer.follow": observing("follow"),
  "Observer.sessionOpened": observing("sessionOpened"),
  "Observer.sessionClosed": observing("sessionClosed"),
  "Observer.follow, within": following("within"),
  "Observer.follow, ended": following("ended"),
  "Observer.follow, layer": following("layer"),
  "traceCalls(onTrace)": (fail) => {
    const server = plainServer();
    server.observe(traceCalls(fail));
    return withClient(server, {}, add);
  },
  "Observer.follow, question": followingQuestions((fail) => fail()),
  "Observer.follow, question within": followingQuestions((fail) => ({ within: fail })),
  "Observer.follow, question ended": followingQuestions((fail) => ({ ended: fail })),
  "CallLogger.info": logging("info", "add"),
  "CallLogger.warn": logging("warn", "no such tool"),
  "CallLogger.error": logging("error", "jams"),
  "MetricsSource.gauge(read)": gauge,
  "Metrics.gauge(read)": gauge,
  "ClientObserver.request": (fail) => withClient(plainServer(), { observe: { request: fail } }, add),
  "ClientObserver.answer": (fail) => askingFor(emptyServer(), { answer: fail }),
  "ClientObserver.answer, within": followingAnswers("within"),
  "ClientObserver.answer, ended": followingAnswers("ended"),
  "ClientObserver.state": (fail) => withClient(plainServer(), { observe: { state: fail } }, add),
  "ClientObserver.fault": (fail) => {
    const [mine, theirs] = channelPair();
    serveChannel(plainServer(), theirs);
    return withClient(channelTransport(mine, "a server"), { observe: { fault: fail } }, (client) => {
      theirs.send("{no message");
      return add(client);
    });
  },
  "ClientObserver.request, within": followingRequests("within"),
  "ClientObserver.request, ended": followingRequests("ended"),
  "ClientObserver.request, content": followingRequests("content"),
  "ServerOptions.onError": async (fail) => {
    const server = emptyServer({ onError: fail }).tool("t", {}, () => {
      throw new Error("jammed");
    });
    await withClient(server, {}, (client) => client.callTool("t", {}));
    return "fine";
  },
  "ServerOptions.onLogLevel": (fail) => settingLevel(emptyServer({ onLogLevel: fail })),
  "ServerOptions.onSubscribe": (fail) => subscribing(plainServer({ subscribe: true, onSubscribe: fail })),
  "ServerOptions.onUnsubscribe": (fail) => subscribing(plainServer({ subscribe: true, onUnsubscribe: fail })),
  "CommonDefinition.watch": watching("resource"),
  "CommonDefinition.watch, template": watching("template"),
  "ServerHandler.unsubscribe": handling("unsubscribe"),
  "ServerHandler.setLogLevel": handling("setLogLevel"),
  "ServeChannelOptions.onFault": async (fail) => {
    const [mine, theirs] = channelPair();
    const serving = serveChannel(plainServer(), theirs, { onFault: fail });
    const answered = new Promise<void>((resolve) => {
      mine.open({ message: (text) => (text.includes('"result":{}') ? resolve() : undefined), fault() {}, closed() {} });
    });
    mine.send("{no message");
    mine.send(PING);
    await answered;
    await serving.close();
    return "fine";
  },
  "ServeChannelOptions.onFault, sockets": async (fail) => {
    const handle = await serveSocket(plainServer(), { port: 0 }, { onFault: fail });
    const ended = await faultAndPing(Number(new URL(handle.url).port));
    await handle.close();
    return ended;
  },
  "ServeChannelOptions.onFault, stdio": throughStdio,
  "ServeChannelOptions.onFault, WebSocket": async (fail) => {
    const handle = await serveWebSocket(plainServer(), { port: 0, onFault: fail });
    const socket = new WebSocket(handle.url, ["mcp"]);
    await once(socket, "open");
    const answered = new Promise<void>((resolve) => {
      socket.addEventListener("message", ({ data }) => (String(data).includes('"result":{}') ? resolve() : undefined));
    });
    socket.send("{no message");
    socket.send(PING);
    await answered;
    socket.close();
    await handle.close();
    return "fine";
  },
  "MemoryStorageOptions.onDeliverError": async (fail) => {
    const storage = memoryStorage({ onDeliverError: fail });
    await storage.pubsub.subscribe("t", () => {
      throw new Error("not delivered");
    });
    await storage.pubsub.publish("t", "m");
    return "fine";
  },
};

/** Whose failure there is nobody to tell of. */
export const SILENT: ReadonlySet<string> = new Set(["MemoryStorageOptions.onDeliverError"]);
