import type { Id, Params } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import { channelPair } from "../transport/channel/channel-pair.js";
import { channelTransport } from "../transport/channel/client.js";
import { serveChannel } from "../transport/channel/server.js";
import { endpointOf, type Servable } from "../transport/serve-handle.js";
import type { Transport } from "../transport/transport.js";

/** A message that a client sent: a request, a notification, or the answer to a request of the server. */
export interface SentMessage {
  jsonrpc: string;
  id?: Id;
  method?: string;
  params?: Params;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** The server behind a recorded transport. */
export interface RecordedTransportOptions {
  /** Serves the client; what is injected comes beside its messages. Default: there is no answer. */
  server?: Servable | undefined;
  /** Called with each message of the client as it arrives; `inject` may be called in it. */
  onSent?: ((message: SentMessage, transport: RecordedTransport) => void) | undefined;
  /** The server's name in error messages. */
  name?: string | undefined;
}

/** A transport that records what the client sends, and says to the client what a test wants. */
export interface RecordedTransport extends Transport {
  /** Everything that the client sent, in order. */
  readonly sent: readonly SentMessage[];
  /** The last message that the client sent. */
  readonly lastSent: SentMessage | undefined;
  /** Whether one of the two sides has ended the connection. */
  readonly closed: boolean;
  /** Delivers a message to the client as if the server had sent it: a value to be written as JSON, or a text as it is. */
  inject(message: unknown): void;
  /** Ends the connection from the server's side. */
  end(): void;
}

/**
 * A connection for tests of clients, without a network and, unless `server` is given, without a server: `connect` to it, look
 * at `sent`, and `inject` what a server might send, however wrong that is. Used once; for tests of reconnecting pass
 * `{ makeTransport: () => recordedTransport(…) }` to `connect`.
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
    // The two members are what was defined here.
  ) as never;
  there.open({
    message(text) {
      // Safe: clients of this library write JSON-RPC.
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

/** The client's end of a pipe to a server in this process. */
function behind(server: Servable, received: (text: string) => void) {
  const [here, there] = channelPair();
  serveChannel(endpointOf(server), there);
  here.open({ message: received, fault: () => {}, closed: () => {} });
  return here;
}
