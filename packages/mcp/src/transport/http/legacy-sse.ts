import { randomName } from "../../encoding/base64.js";
import { guarded, type MaybePromise } from "../../encoding/maybe-promise.js";
import type { Principal } from "../../http/authentication.js";
import type { Channel, ChannelReceiver } from "../../jsonrpc/connection.js";
import { faultData } from "../../jsonrpc/error.js";
import { parseMessage } from "../../jsonrpc/message.js";
import { DueList } from "../../platform/due-list.js";
import type { Storage } from "../../storage/storage.js";
import { serveChannel } from "../channel/server.js";
import { encodeEvent } from "../framing/sse-encode.js";
import { acceptance, bodyTypeFault } from "./server/body-type.js";
import type { HttpExchange } from "./server/exchange.js";
import type { LegacySseOptions } from "./server/options.js";
import { refusal } from "./server/refusal.js";
import type { SseConnection } from "./server/sse-connection.js";
import type { ServerState } from "./server/state.js";

/**
 * The HTTP+SSE transport of 2024-11-05: one event stream for messages of the server, and a second path for messages of
 * the client.
 *
 * Spec: Transports, "HTTP with SSE",
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export interface LegacySse {
  /** Handles a request to one of the two paths. Returns false for any other path. */
  handle(exchange: HttpExchange): boolean;
  close(): void;
}

/** Reads the text of a request body, or refuses the request. */
type ReadBody = (exchange: HttpExchange, use: (text: string) => void) => void;

export function createLegacySse(
  state: ServerState,
  storage: Storage,
  options: LegacySseOptions,
  readBody: ReadBody,
): LegacySse {
  const { path = "/sse", messagesPath = "/messages" } = options;
  const connections = new LegacyConnections(state, storage, readBody);
  return {
    handle(exchange) {
      const { method } = exchange.http;
      const [target = "", query = ""] = exchange.http.path.split("?", 2);
      if (method === "GET" && target.endsWith(path)) {
        // Both paths share one prefix, so that they work wherever the handler is mounted.
        const open = () => connections.open(exchange, target.slice(0, -path.length) + messagesPath);
        guarded(
          () => exchange.openCounted(open),
          (error) => exchange.broken(error),
        );
        return true;
      }
      if (method !== "POST" || !target.endsWith(messagesPath)) return false;
      connections.post(exchange, new URLSearchParams(query).get("sessionId") ?? "");
      return true;
    },
    close: () => connections.close(),
  };
}

/**
 * The open connections of this node. A POST may arrive at another node than the one with the stream, so every message
 * goes through the topics of the storage, even on a single node.
 */
class LegacyConnections {
  readonly #state: ServerState;
  readonly #readBody: ReadBody;
  readonly #storage: Storage;
  readonly #channels = new Set<SseChannel>();
  /** Extends the records of open streams before they expire. */
  readonly #alive: DueList<string>;

  constructor(state: ServerState, storage: Storage, readBody: ReadBody) {
    this.#state = state;
    this.#readBody = readBody;
    this.#storage = storage;
    this.#alive = new DueList(state.platform, this.#lifeMs() / 4, (id) => {
      this.#quietly(() => storage.kv.touch(nameOf(id), this.#lifeMs()));
      this.#alive.touch(id);
    });
  }

  /** Never rejects. */
  async open(exchange: HttpExchange, messagesPath: string): Promise<void> {
    if (!acceptance(exchange.http.protocolHeaders.accept).events) {
      return exchange.refuse(refusal(406, "Accept must list text/event-stream"));
    }
    const id = randomName(this.#state.platform, 24);
    const channel = new SseChannel();
    try {
      const forget = await this.#record(id, exchange.principal, channel);
      const connection = exchange.openEvents();
      if (connection === undefined) {
        forget();
        return exchange.busy(exchange.streamLimit);
      }
      this.#channels.add(channel);
      channel.connect(connection, () => {
        this.#channels.delete(channel);
        forget();
      });
      connection.write(encodeEvent({ event: "endpoint", data: `${messagesPath}?sessionId=${id}` }));
      const { principal } = exchange;
      serveChannel(this.#state.endpoint, channel, {
        ...(principal === undefined ? {} : { principal }),
        network: { transport: "tcp", protocol: "http" },
        maxInFlight: this.#state.limits.maxInFlightPerSession,
        platform: this.#state.platform,
      });
    } catch (error) {
      this.#failed(exchange, error);
    }
  }

  post(exchange: HttpExchange, id: string): void {
    const fault = bodyTypeFault(exchange.http);
    if (fault !== undefined) return exchange.refuse(refusal(415, fault));
    this.#readBody(exchange, (text) => {
      // Parsed here only to refuse invalid messages. The connection of the stream parses the text again.
      const item = parseMessage(text);
      if (item.kind === "invalid")
        return exchange.refuse(refusal(400, item.reason, { id: item.id, code: item.code, data: faultData(item.code) }));
      this.#deliver(exchange, id, text).catch((error) => this.#failed(exchange, error));
    });
  }

  close(): void {
    for (const channel of [...this.#channels]) channel.close();
    this.#alive.close();
  }

  async #record(id: string, principal: Principal | undefined, channel: SseChannel): Promise<() => void> {
    const { kv, pubsub } = this.#storage;
    const owner = JSON.stringify(principal?.key ?? null);
    await kv.set(nameOf(id), owner, { ttlMs: this.#lifeMs() });
    const unsubscribe = await pubsub.subscribe(nameOf(id), (text) => channel.receive(text));
    this.#alive.touch(id);
    return () => {
      this.#alive.drop(id);
      this.#quietly(() => unsubscribe());
      this.#quietly(() => kv.delete(nameOf(id)));
    };
  }

  async #deliver(exchange: HttpExchange, id: string, text: string): Promise<void> {
    const owner = await this.#storage.kv.get(nameOf(id));
    // The response for a session of another principal is the same as for an unknown session.
    if (owner?.value !== JSON.stringify(exchange.principal?.key ?? null)) {
      return exchange.refuse(refusal(404, "session not found"));
    }
    // Acknowledge first: on one node the answer may be on the stream before `publish` returns.
    exchange.empty(202);
    await this.#storage.pubsub.publish(nameOf(id), text);
  }

  #lifeMs(): number {
    return this.#state.times.sessionIdleMs;
  }

  #failed(exchange: HttpExchange, error: unknown): void {
    this.#state.storageFailed(error);
    exchange.refuse(refusal(500, "the session could not be read"));
  }

  #quietly(run: () => MaybePromise<unknown>): void {
    guarded(run, (error) => this.#state.storageFailed(error));
  }
}

function nameOf(id: string): string {
  return `http/legacy-sse/${id}`;
}

/** Combines the outgoing event stream and the incoming POSTs into one channel. */
class SseChannel implements Channel {
  #receiver: ChannelReceiver | undefined;
  #connection: SseConnection | undefined;
  #forget: (() => void) | undefined;

  connect(connection: SseConnection, forget: () => void): void {
    this.#connection = connection;
    this.#forget = forget;
    connection.onLost = () => this.#end();
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  receive(text: string): void {
    this.#receiver?.message(text);
  }

  send(text: string): void {
    this.#connection?.write(encodeEvent({ event: "message", data: text }));
  }

  close(): void {
    this.#connection?.end();
    this.#end();
  }

  #end(): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.#connection = undefined;
    this.#forget?.();
    this.#forget = undefined;
    receiver?.closed();
  }
}
