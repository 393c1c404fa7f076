import type { Id, Params } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import { channelPair } from "../transport/channel/channel-pair.js";
import { channelTransport } from "../transport/channel/client.js";
import { serveChannel } from "../transport/channel/server.js";
import { endpointOf, type Servable } from "../transport/serve-handle.js";
import type { Transport } from "../transport/transport.js";

/** A message that a client sent: a request, a notification, or the answer to a request from the server. */
export interface SentMessage {
  /** The JSON-RPC version, `2.0`. */
  jsonrpc: string;
  /** The id of the request that is sent or answered. Absent for a notification. */
  id?: Id;
  /** The method of a request or notification. Absent for an answer. */
  method?: string;
  /** The parameters of a request or notification. */
  params?: Params;
  /** The result of a successful answer. */
  result?: unknown;
  /** The error of a failed answer. */
  error?: { code: number; message: string; data?: unknown };
}

/** Options of a recorded transport. */
export interface RecordedTransportOptions {
  /**
   * The server that answers the client. The client receives injected messages in addition to the server's messages.
   * Default: requests get no answer.
   */
  server?: Servable | undefined;
  /** Called with each message from the client as it arrives. The function may call `inject`. */
  onSent?: ((message: SentMessage, transport: RecordedTransport) => void) | undefined;
  /** The server's name in error messages. Default: `a recorded server`. */
  name?: string | undefined;
}

/** A transport that records the client's messages and lets a test send messages to the client. */
export interface RecordedTransport extends Transport {
  /** All messages that the client sent, in order. */
  readonly sent: readonly SentMessage[];
  /** The last message that the client sent. Undefined if there is none. */
  readonly lastSent: SentMessage | undefined;
  /** True if one of the two sides has ended the connection. */
  readonly closed: boolean;
  /**
   * Delivers a message to the client as if the server had sent it. A string is sent as it is, any other value as JSON.
   */
  inject(message: unknown): void;
  /** Ends the connection from the server's side. */
  end(): void;
}

/**
 * Creates a connection for tests of clients, without a network and, unless `server` is set, without a server.
 *
 * Pass it to `connect`, check `sent`, and `inject` any message that a server might send, valid or not. A recorded
 * transport can be used for only one connection. To test reconnecting, pass
 * `{ makeTransport: () => recordedTransport(…) }` to `connect`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/testing.md | Testing}
 */
export function recordedTransport(options: RecordedTransportOptions = {}): RecordedTransport {
  checkOptions("recordedTransport", options, "server onSent name");
  const { server, onSent, name = "a recorded server" } = options;
  const [here, there] = channelPair();
  const sent: SentMessage[] = [];
  let closed = false;
  const inject = (message: unknown) => there.send(typeof message === "string" ? message : JSON.stringify(message));
  const forward = server === undefined ? undefined : behind(server, inject);
  const transport: RecordedTransport = Object.defineProperties(
    Object.assign(channelTransport(here, name), { sent, inject, end: () => void there.close() }),
    { lastSent: { get: () => sent.at(-1) }, closed: { get: () => closed } },
    // Safe: the two getters were defined above.
  ) as never;
  there.open({
    message(text) {
      // Safe: clients of this library send JSON-RPC.
      const message = JSON.parse(text) as SentMessage;
      sent.push(message);
      onSent?.(message, transport);
      forward?.send(text);
    },
    fault: () => {},
    closed() {
      closed = true;
      void forward?.close();
    },
  });
  return transport;
}

/** Connects to a server in this process and returns the client's end of the pipe. */
function behind(server: Servable, received: (text: string) => void) {
  const [here, there] = channelPair();
  serveChannel(endpointOf(server), there);
  here.open({ message: received, fault: () => {}, closed: () => {} });
  return here;
}
