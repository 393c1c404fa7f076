import type { History } from "./history.js";
import type { SimExchange } from "./sim-exchange.js";
import type { HttpWatcher } from "./sim-http.js";
import type { SimPipe } from "./sim-pipe.js";
import type { Credentials } from "./trials.js";
import type { World } from "./world.js";

interface Wire {
  id?: unknown;
  method?: string;
  result?: unknown;
  params?: { requestId?: unknown; _meta?: Record<string, unknown> };
}

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** What a client may still be told while the end of its credentials is on its way. */
const EXPIRY_SLACK_MS = 500;

/** I17: whoever may be told nothing more is told nothing. */
function checkExpiry(world: World, credentials: Credentials, client: string, what: string): void {
  if (!credentials.expired(client, EXPIRY_SLACK_MS)) return;
  world.violate("I17", `${client} was told ${what.slice(0, 200)} after its credentials had expired`);
}

/** I3, I14 and I17 on a pipe: looks at what the server writes. */
export function watchPipe(
  world: World,
  history: History,
  pipe: SimPipe,
  { id, client, credentials }: { id: string; client: string; credentials: Credentials },
): void {
  const acknowledged = new Set<unknown>();
  pipe.far.tap = (text) => {
    for (const line of text.split("\n")) {
      if (line === "") continue;
      checkExpiry(world, credentials, client, line);
      const message = JSON.parse(line) as Wire;
      if (message.method === undefined) history.answered(id, message.id);
      const subscription = message.params?._meta?.[SUBSCRIPTION];
      if (subscription === undefined) continue;
      if (message.method === ACKNOWLEDGED) acknowledged.add(subscription);
      else if (!acknowledged.has(subscription)) {
        world.violate("I14", `${message.method} of subscription ${subscription} before its acknowledgement`);
      }
    }
  };
}

/** When each stream was asked for since it last brought something. */
type Asked = Map<string, number[]>;

/** I3, I9, I10, I14 and I17 over HTTP. */
export function watchHttp(world: World, history: History, credentials: Credentials): HttpWatcher {
  const acknowledged = new Set<number>();
  const asked: Asked = new Map();
  return {
    sent(exchange) {
      if (exchange.method === "GET") checkPace(world, asked, exchange);
    },
    broken: (exchange) => history.abandon(`http ${exchange.id}`),
    left: (exchange) => history.carrierGone(`http ${exchange.id}`, true),
    said(exchange, text, stream) {
      const data = stream ? dataOf(text) : text;
      if (stream && exchange.method === "GET" && data !== "") asked.delete(streamOf(exchange));
      if (data === "") return;
      if (exchange.status === 200) checkExpiry(world, credentials, exchange.client, data);
      const message = JSON.parse(data) as Wire;
      if (exchange.status === 200 && message.method === undefined && exchange.method === "POST") {
        history.answered(`http ${exchange.id}`, message.id);
      }
      if (exchange.message?.method !== "subscriptions/listen" || exchange.status !== 200) return;
      if (message.method === ACKNOWLEDGED) acknowledged.add(exchange.id);
      else if (message.method !== undefined && !acknowledged.has(exchange.id)) {
        world.violate("I14", `${message.method} on stream ${exchange.id} before the acknowledgement`);
      }
    },
  };
}

function dataOf(event: string): string {
  return event
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");
}

const WINDOW_MS = 60_000;
const PER_WINDOW = 8;

/** Which stream of which session a GET is for; without an id to go on from it is the standing one. */
function streamOf({ client, headers }: SimExchange): string {
  const [stream = "s"] = (headers.get("last-event-id") ?? "s").split(".");
  return `${client} ${headers.get("mcp-session-id")} ${stream}`;
}

/** I10: of one stream that brings nothing, at most 8 connections in a minute. */
function checkPace(world: World, asked: Asked, exchange: SimExchange): void {
  const key = streamOf(exchange);
  const now = world.now();
  const times = [...(asked.get(key) ?? []).filter((at) => at > now - WINDOW_MS), now];
  asked.set(key, times);
  if (times.length > PER_WINDOW) {
    world.violate("I10", `${exchange.client} opened one stream ${times.length} times in a minute`);
  }
}
