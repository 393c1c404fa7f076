import { randomName } from "../../../../encoding/base64.js";
import { guarded, type MaybePromise } from "../../../../encoding/maybe-promise.js";
import type { ErrorMessage, Id, ResultMessage } from "../../../../jsonrpc/message.js";
import type { Platform } from "../../../../platform/platform.js";
import type { PubSub, Unsubscribe } from "../../../../storage/storage.js";
import type { EndReason } from "../../../transport.js";

/** Time to wait for other nodes to reply. */
const CONFIRM_MS = 1000;

/** Sends and receives the messages between the nodes that serve one session. */
export class NodeMessenger {
  readonly #platform: Platform;
  /** Absent if no other node can serve the sessions. */
  readonly #pubsub: PubSub | undefined;
  readonly #topic: (session: string) => string;
  readonly #node: () => string;
  readonly #failed: (error: unknown) => void;
  readonly #unconfirmed = new Map<string, (confirmed: boolean, idle?: string) => void>();
  #closed = false;

  constructor(
    platform: Platform,
    pubsub: PubSub | undefined,
    topic: (session: string) => string,
    node: () => string,
    failed: (error: unknown) => void,
  ) {
    this.#platform = platform;
    this.#pubsub = pubsub;
    this.#topic = topic;
    this.#node = node;
    this.#failed = failed;
  }

  /** Subscribes to the messages about a session. `onGap` is called when messages may have been lost. */
  subscribe(
    session: string,
    onMessage: (message: NodeMessage) => void,
    onGap: () => void,
  ): MaybePromise<Unsubscribe | undefined> {
    return this.#pubsub?.subscribe(this.#topic(session), (text) => this.#receive(text, onMessage), onGap);
  }

  /** Sends a message that may be lost. Reports failures instead of throwing. */
  notify(session: string, message: NodeMessage): void {
    guarded(() => this.send(session, message), this.#failed);
  }

  /** Sends a message. Throws or rejects if the storage does not accept it. */
  send(session: string, message: NodeMessage): MaybePromise<void> {
    return this.#pubsub?.publish(this.#topic(session), encodeNodeMessage(this.#node(), message));
  }

  /**
   * Announces a change of a session. Resolves with true when the node whose endpoint serves the session has read the
   * change, and with false if no node confirms in time.
   */
  confirm(session: string): Promise<boolean> {
    const token = randomName(this.#platform, 6);
    const confirmed = this.#awaitReply(token);
    this.notify(session, { kind: "changed", token });
    return confirmed;
  }

  /**
   * Asks whether another node runs a request or stream of the session, or has served it within the last `forMs`
   * milliseconds. Resolves with the `nodes` that did not reply in time. Resolves with undefined if any node replies
   * that it uses the session, or if this node closes meanwhile. Rejects if the storage does not accept the message.
   * This node must be subscribed to the session.
   */
  async silentNodes(session: string, forMs: number, nodes: readonly string[]): Promise<Iterable<string> | undefined> {
    const token = randomName(this.#platform, 6);
    const silent = new Set(nodes);
    const used = this.#awaitReply(token, silent);
    await this.send(session, { kind: "idle", token, forMs });
    return (await used) || this.#closed ? undefined : silent;
  }

  /**
   * Resolves with true when a node confirms this token. Resolves with false if no node does in time, or as soon as
   * every node in `silent` has reported the session as unused. Removes these nodes from `silent`.
   */
  #awaitReply(token: string, silent?: Set<string>): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (confirmed: boolean, idle?: string) => {
        if (idle !== undefined && (silent?.delete(idle) !== true || silent.size > 0)) return;
        timer.cancel();
        this.#unconfirmed.delete(token);
        resolve(confirmed);
      };
      const timer = this.#platform.timer(CONFIRM_MS, () => settle(false));
      this.#unconfirmed.set(token, settle);
    });
  }

  close(): void {
    this.#closed = true;
    for (const settle of [...this.#unconfirmed.values()]) settle(false);
  }

  #receive(text: string, onMessage: (message: NodeMessage) => void): void {
    const message = decodeNodeMessage(this.#node(), text);
    if (message?.kind === "read" || message?.kind === "used") this.#unconfirmed.get(message.token)?.(true);
    else if (message?.kind === "unused") this.#unconfirmed.get(message.token)?.(false, message.node);
    else if (message !== undefined) onMessage(message);
  }
}

/** A message between nodes about one session. */
export type NodeMessage =
  /** A stream has new entries. */
  | { kind: "log"; stream: string }
  /** A client now reads this stream on another node. */
  | { kind: "taken"; stream: string }
  /** The answer to a request that some node sent. */
  | { kind: "answer"; message: ResultMessage | ErrorMessage }
  /** The client cancelled a request that some node runs. */
  | { kind: "abort"; id: Id; reason: string }
  /** Entries of a stream were lost. A client that resumes the stream must learn about the gap. */
  | { kind: "lost"; stream: string }
  /**
   * The stored session changed. The node whose endpoint serves the session confirms with the token that it has read the
   * change.
   */
  | { kind: "changed"; token: string }
  | { kind: "read"; token: string }
  /** Asks which node serves the session, after messages may have been lost. */
  | { kind: "whose" }
  /**
   * Asks whether another node runs a request or stream of the session, or has served it within `forMs`. Each node
   * replies with the token.
   */
  | { kind: "idle"; token: string; forMs: number }
  | { kind: "used"; token: string }
  | { kind: "unused"; token: string; node: string }
  /** The session has ended. */
  | { kind: "ended"; reason: EndReason };

/** Every message names its sender, because a publisher also receives its own messages. */
interface Envelope {
  from: string;
  message: NodeMessage;
}

function encodeNodeMessage(from: string, message: NodeMessage): string {
  const envelope: Envelope = { from, message };
  return JSON.stringify(envelope);
}

/**
 * Decodes the message of another node. Returns undefined for a message that this node sent. Does not validate the text,
 * because only nodes of this server publish to the topic.
 */
function decodeNodeMessage(ownNode: string, text: string): NodeMessage | undefined {
  const { from, message } = JSON.parse(text) as Envelope;
  return from === ownNode ? undefined : message;
}
