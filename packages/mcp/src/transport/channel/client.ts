import { type Channel, Connection } from "../../jsonrpc/connection.js";
import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { NetworkFacts, Outgoing, Receiver, Transport } from "../transport.js";

/** A client transport over one channel. */
export function channelTransport(channel: Channel, target: string, network?: NetworkFacts): Transport {
  return new ChannelTransport(channel, target, network);
}

class ChannelTransport implements Transport {
  readonly kind = "channel";
  readonly target: string;
  readonly network: NetworkFacts | undefined;
  readonly #channel: Channel;
  #connection: Connection<undefined> | undefined;
  #closing = false;

  constructor(channel: Channel, target: string, network: NetworkFacts | undefined) {
    this.network = network;
    this.#channel = channel;
    this.target = target;
  }

  open(receiver: Receiver): void {
    this.#connection = new Connection<undefined>(
      this.#channel,
      {
        request: (message, inbound) =>
          receiver.request(message).then((text) => {
            // An aborted request gets no answer.
            if (text === "") inbound.abort(undefined);
            return { text };
          }),
        notification: (message) => receiver.notification(message),
        late: ({ id, result }) => receiver.late?.(id, result),
        fault: (error, asked) => {
          if (asked !== undefined) this.#connection?.forget(asked, unusable(error, this.target));
          if (McpError.is(error) && error.kind === "oversized_frame") this.#skipped(error);
          receiver.fault(McpError.is(error) ? error : unreadable(error, this.target));
        },
        closed: (reason) => {
          if (!this.#closing) receiver.closed(reason);
        },
        // A server may send batches at any time after a handshake in the revision that has them.
        acceptsBatch: () => true,
      },
      undefined,
    );
    this.#connection.open();
  }

  request(request: Outgoing & { id: Id }): Promise<unknown> {
    if (this.#connection === undefined) return Promise.reject(notOpen());
    return this.#connection.ask(request).catch((error: unknown) => {
      throw error instanceof RpcError || McpError.is(error) ? error : closedBy(error, this.target);
    });
  }

  notify(notification: Outgoing): void {
    if (this.#connection === undefined) throw notOpen();
    this.#connection.send(notification.text);
  }

  abandon(id: Id, reason: Error): void {
    this.#connection?.forget(id, reason);
  }

  /** An answer that was too long will not come again: its call ends now, or every call when the frame does not say whose it was. */
  #skipped({ message, data }: McpError): void {
    const head = isObject(data) && typeof data["head"] === "string" ? data["head"] : "";
    if (NOT_AN_ANSWER.test(head)) return;
    const lost = new McpError("oversized_frame", `${this.target} sent an answer that is too long: ${message}`, {
      fix: "Ask for less at once, or raise `maxMessageBytes` of `connect` or of the transport.",
    });
    const id = ANSWER.exec(head)?.[1];
    if (id === undefined) this.#connection?.forgetAll(lost);
    // The expression admits numbers and simple strings only.
    else this.#connection?.forget(JSON.parse(id) as Id, lost);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await (this.#connection ?? this.#channel).close();
  }
}

/** The members before the result of an answer, as most servers write them; the group is the id. */
const ANSWER =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,15}|"[\w -]*")\s*,\s*"(?:result|error)"\s*:/;
const NOT_AN_ANSWER =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"id"\s*:\s*[^,]{1,64},\s*)?"(?:method|params)"\s*:/;

function unreadable(cause: Error, target: string): McpError {
  return new McpError("decode_error", `${target} sent something that is not a message: ${cause.message}`, {
    cause,
    fix: "Check whether the server prints to the message stream; its log belongs on stderr.",
  });
}

function unusable(cause: Error, target: string): McpError {
  return new McpError("invalid_response", `${target} answered with an invalid message: ${cause.message}`, {
    cause,
    fix: "Ask for less at once if the answer is too large; otherwise report this to the author of the server.",
  });
}

function notOpen(): McpError {
  return new McpError("connection_closed", "the transport is not open", { fix: "Call `connect` first." });
}

function closedBy(error: unknown, target: string): McpError {
  const reason = error instanceof Error ? error.message : String(error);
  return new McpError("connection_closed", `the connection to ${target} ended before the answer: ${reason}`, {
    cause: error,
    fix: "Connect again; the request may or may not have run, so repeat it only if that is safe.",
  });
}
