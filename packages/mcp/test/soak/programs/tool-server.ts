// The server of most lanes: a few tools, one resource that changes, and counts of what it holds.
import { Server } from "@parley/mcp";
import { type ServeHttpOptions, serveHttp } from "@parley/mcp/node";
import type { Endpoint } from "@parley/mcp/transport";
import { answerCommands, settingsOf } from "./answer-commands.js";

/** The options of serving that JSON can carry. */
export interface ToolServerSettings extends Pick<ServeHttpOptions, "port" | "limits" | "times"> {
  /** Takes the bearer token as the name of the caller. */
  principals?: boolean;
}

/** What is told of the one resource's subscribers, in milliseconds since the epoch. */
export interface SubscribersSeen {
  lastLeftAt: number | undefined;
}

export const CHANGING = "soak://changing";

const { principals = false, ...serving } = settingsOf<ToolServerSettings>();
const seen: SubscribersSeen = { lastLeftAt: undefined };
let foreign = 0;
let requests = 0;
let sessions = 0;

const NONCE = { type: "object", properties: { nonce: { type: "number" } }, required: ["nonce"] } as const;
const SECRET = {
  type: "object",
  properties: { secret: { type: "string" }, ask: { type: "boolean" } },
  required: ["secret"],
} as const;

const server = new Server(
  { name: "soak", version: "1.0.0" },
  {
    onSubscribe() {
      seen.lastLeftAt = undefined;
    },
    onUnsubscribe() {
      seen.lastLeftAt = Date.now();
    },
  },
)
  .tool("echo", { input: NONCE }, ({ nonce }) => `nonce ${nonce}`)
  .tool("confide", { input: SECRET }, async ({ secret, ask }, ctx) => {
    if (!secret.startsWith(`${ctx.auth?.key}:`)) foreign++;
    ctx.progress(1, { message: secret });
    await new Promise((resolve) => setImmediate(resolve));
    let heard = secret;
    if (ask === true) {
      const content = { type: "text", text: secret } as const;
      const answer = await ctx.sample({ messages: [{ role: "user", content }], maxTokens: 10 });
      const said = answer.content;
      heard = !Array.isArray(said) && said.type === "text" ? said.text : "";
      if (heard !== `${secret}!`) foreign++;
    }
    ctx.progress(2, { message: secret });
    return heard;
  })
  .resource(CHANGING, { name: "changing" }, () => "now");

/** Counts sessions from outside, as a transport tells of them. */
function counted(inner: Endpoint): Endpoint {
  return {
    ...(inner.revisions === undefined ? {} : { revisions: inner.revisions }),
    accept: (message, http) => inner.accept(message, http),
    request: (accepted, exchange) => inner.request(accepted, exchange),
    notification: (message, peer) => inner.notification(message, peer),
    opened(peer) {
      sessions++;
      inner.opened(peer);
    },
    closed(peer) {
      sessions--;
      inner.closed(peer);
    },
  };
}

const handle = await serveHttp(counted(server.endpoint()), {
  port: 0,
  ...serving,
  onRequest() {
    requests++;
  },
  ...(principals ? { authenticate: (request) => ({ key: bearer(request.header("authorization")) }) } : {}),
});

function bearer(header: string | undefined): string {
  return header?.slice("Bearer ".length) ?? "nobody";
}

answerCommands(
  { url: handle.url, port: handle.port },
  {
    changed: () => server.resourceUpdated(CHANGING),
    subscribers: () => seen,
    sessions: () => sessions,
    requests: () => requests,
    foreign: () => foreign,
  },
);
