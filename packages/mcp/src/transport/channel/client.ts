import { type Channel, Connection } from "../../jsonrpc/connection.js";
import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { NetworkInfo, Outgoing, Receiver, Transport } from "../transport.js";

/**
 * Creates a client transport over one channel. `target` names the server in error messages.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export function channelTransport(channel: Channel, target: string, network?: NetworkInfo): Transport {
  return new ChannelTransport(channel, target, network);
}

class ChannelTransport implements Transport {
  readonly kind = "channel";
  readonly target: string;
  readonly network: NetworkInfo | undefined;
  readonly #channel: Channel;
  #connection: Connection<undefined> | undefined;
  #closing = false;

  constructor(channel: Channel, target: string, network: NetworkInfo | undefined) {
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
            // An empty text means that no response must be sent. The request is aborted here, because aborted requests
            // get no response.
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
        // A server may send a batch at any time after a handshake in the revision that has batches. This transport does
        // not know the revision, so it accepts every batch.
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

  /**
   * Rejects the request whose response was too long, because the server will not send the response again. If the
   * skipped frame does not show the id of the request, rejects all pending requests. Does nothing if the frame is
   * itself a request or a notification.
   */
  #skipped({ message, data }: McpError): void {
    const head = isObject(data) && typeof data["head"] === "string" ? data["head"] : "";
    if (NOT_AN_ANSWER.test(head)) return;
    const lost = new McpError("oversized_frame", `${this.target} sent an answer that is too long: ${message}`, {
      fix: "Ask for less at once, or raise `maxMessageBytes` of `connect` or of the transport.",
    });
    const id = ANSWER.exec(head)?.[1];
    if (id === undefined) this.#connection?.forgetAll(lost);
    // Safe: `ANSWER` captures only numbers and simple strings.
    else this.#connection?.forget(JSON.parse(id) as Id, lost);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await (this.#connection ?? this.#channel).close();
  }
}

/** The start of a response up to its result or error, as most servers write it. The group is the id. */
const ANSWER =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,15}|"[\w -]*")\s*,\s*"(?:result|error)"\s*:/;
/** The start of a request or a notification, as most servers write it. */
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
