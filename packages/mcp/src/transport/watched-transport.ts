import { RpcError } from "../jsonrpc/error.js";
import type { Id } from "../jsonrpc/message.js";
import type { Outgoing, Receiver, Transport } from "./transport.js";

/** One message between a client and its server, as a JSON-RPC object. It must not be changed. */
export interface WireMessage {
  /** `sent` by the client, or `received` from the server. */
  readonly direction: "sent" | "received";
  /** The JSON-RPC message. */
  readonly message: Readonly<Record<string, unknown>>;
  /** The id of the request on whose stream a message of the server arrived, if the transport knows it. */
  readonly about?: Id | undefined;
  /**
   * Identifies the connection. All messages of one connection have the same object. Request ids are unique only within
   * a connection.
   */
  readonly connection: object;
}

/** Passes every message of a transport to `watch`, which must not throw. The transport itself works unchanged. */
export function watchedTransport(inner: Transport, watch: (message: WireMessage) => void): Transport {
  const connection = {};
  const sent = (text: string) =>
    watch({ direction: "sent", message: JSON.parse(text) as WireMessage["message"], connection });
  const received = (message: object, about?: Id) =>
    watch({ direction: "received", message: { ...message }, ...(about === undefined ? {} : { about }), connection });
  return {
    kind: inner.kind,
    target: inner.target,
    get network() {
      return inner.network;
    },
    get sessionId() {
      return inner.sessionId;
    },
    get hasSession() {
      return inner.hasSession;
    },
    open: (receiver) => inner.open(watchedReceiver(receiver, sent, received)),
    async request(request) {
      sent(request.text);
      const envelope = { jsonrpc: "2.0", id: request.id };
      try {
        const result = await inner.request(request);
        received({ ...envelope, result });
        return result;
      } catch (error) {
        // Any other error is a failure of the transport, so there is no message to report.
        if (error instanceof RpcError) received({ ...envelope, error: errorObject(error) });
        throw error;
      }
    },
    notify(notification: Outgoing) {
      sent(notification.text);
      return inner.notify(notification);
    },
    abandon: (id, reason) => inner.abandon(id, reason),
    established: (handshake) => inner.established?.(handshake),
    reset: () => inner.reset?.(),
    explain: (cause) => inner.explain?.(cause) ?? (cause instanceof Error ? cause : new Error(String(cause))),
    close: () => inner.close(),
  };
}

function watchedReceiver(
  receiver: Receiver,
  sent: (text: string) => void,
  received: (message: object, about?: Id) => void,
): Receiver {
  return {
    async request(message, about) {
      received(message, about);
      const answer = await receiver.request(message, about);
      if (answer !== "") sent(answer);
      return answer;
    },
    notification(message, about) {
      received(message, about);
      receiver.notification(message, about);
    },
    late(id, result) {
      received({ jsonrpc: "2.0", id, result });
      receiver.late?.(id, result);
    },
    fault: (error) => receiver.fault(error),
    missed: () => receiver.missed?.(),
    userWait: (about) => receiver.userWait?.(about) ?? (() => {}),
    closed: (reason) => receiver.closed(reason),
  };
}

function errorObject({ code, message, data }: RpcError): object {
  return { code, message, ...(data === undefined ? {} : { data }) };
}
