import type { Revision } from "../../src/protocol/revisions.js";
import type { Server } from "../../src/server/server.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { type ServeChannelOptions, serveChannel } from "../../src/transport/channel/server.js";

/** A message as it came over the pipe. */
export interface Heard {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
  result?: any;
  error?: { code: number; message: string; data?: unknown };
}

/** One client by hand: every message that it sends and hears is in plain sight. */
export interface Talk {
  /** Everything that the server sent, in order. */
  readonly heard: Heard[];
  /** Sends a request and waits for its answer; an error is returned, not thrown. */
  ask(method: string, params?: object, id?: string | number): Promise<Heard>;
  /** As `ask`, but gives the result and throws for an error. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
  result(method: string, params?: object): Promise<any>;
  notify(method: string, params?: object): void;
  /** Waits for a message among those heard, past or future. */
  until(test: (message: Heard) => boolean): Promise<Heard>;
  /** What was said of this method so far. */
  notices(method: string): Heard[];
  close(): void;
}

/** The metadata of a request of the stateless era. */
export function meta(revision: Revision, more: object = {}): object {
  return {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...more,
  };
}

/** Talks to a server over a pipe in one revision; the handshake is done where the revision has one. */
export async function talk(
  server: Pick<Server, "endpoint">,
  revision: Revision,
  options: ServeChannelOptions = {},
): Promise<Talk> {
  const [here, there] = channelPair();
  const heard: Heard[] = [];
  const waiting = new Set<() => void>();
  serveChannel(server.endpoint(), there, options);
  here.open({
    message(text) {
      heard.push(JSON.parse(text) as Heard);
      for (const wake of waiting) wake();
    },
    fault() {},
    closed() {},
  });
  const stateless = revision >= "2026-07-28";
  const send = (message: object) => here.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  let next = 1;
  const self: Talk = {
    heard,
    async ask(method, params = {}, id = next++) {
      const own = params as { _meta?: object };
      send({ id, method, params: stateless ? { ...params, _meta: meta(revision, own._meta) } : params });
      return self.until((message) => message.id === id && message.method === undefined);
    },
    async result(method, params) {
      const { result, error } = await self.ask(method, params);
      if (error !== undefined) throw Object.assign(new Error(error.message), error);
      return result;
    },
    notify: (method, params) => send({ method, ...(params === undefined ? {} : { params }) }),
    until(test) {
      return new Promise((resolve) => {
        let seen = 0;
        const look = () => {
          // A test may empty `heard`.
          const found = heard.slice(Math.min(seen, heard.length - 1)).find(test);
          seen = heard.length;
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      });
    },
    notices: (method) => heard.filter((message) => message.method === method),
    close: () => here.close(),
  };
  if (!stateless) {
    await self.result("initialize", {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: "talker", version: "1" },
    });
    self.notify("notifications/initialized");
  }
  return self;
}

/** One turn of the event loop, with all that was due in it. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
