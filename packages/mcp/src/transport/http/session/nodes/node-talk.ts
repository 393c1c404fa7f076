import { randomName } from "../../../../encoding/base64.js";
import { guarded, type MaybePromise } from "../../../../encoding/maybe-promise.js";
import type { ErrorMessage, Id, ResultMessage } from "../../../../jsonrpc/message.js";
import type { Platform } from "../../../../platform/platform.js";
import type { PubSub, Unsubscribe } from "../../../../storage/storage.js";
import type { EndReason } from "../../../transport.js";

/** How long a question to the other nodes waits for an answer. */
const CONFIRM_MS = 1000;

/** The messages between the nodes that serve one session. */
export class NodeTalk {
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

  /** `gap`: messages may have been lost. */
  subscribe(
    session: string,
    hear: (message: NodeMessage) => void,
    gap: () => void,
  ): MaybePromise<Unsubscribe | undefined> {
    return this.#pubsub?.subscribe(this.#topic(session), (text) => this.#receive(text, hear), gap);
  }

  /** Sends a message that may be lost. */
  tell(session: string, message: NodeMessage): void {
    guarded(() => this.send(session, message), this.#failed);
  }

  /** Sends a message; throws or rejects if the storage does not take it. */
  send(session: string, message: NodeMessage): MaybePromise<void> {
    return this.#pubsub?.publish(this.#topic(session), encodeNodeMessage(this.#node(), message));
  }

  /** Tells of a change of a session. Resolves when the node that speaks for it has read it; with false if none says so in time. */
  confirm(session: string): Promise<boolean> {
    const token = randomName(this.#platform, 6);
    const confirmed = this.#answerTo(token);
    this.tell(session, { kind: "changed", token });
    return confirmed;
  }

  /**
   * Asks whether another node runs something of a session, or has served it within the last `forMs` milliseconds. Resolves with
   * those of `nodes` that have not answered in time; with undefined if one uses it, or this node is closed meanwhile. Rejects if
   * the storage does not take the question. This node must be subscribed to the session.
   */
  async unanswered(session: string, forMs: number, nodes: readonly string[]): Promise<Iterable<string> | undefined> {
    const token = randomName(this.#platform, 6);
    const silent = new Set(nodes);
    const used = this.#answerTo(token, silent);
    await this.send(session, { kind: "idle", token, forMs });
    return (await used) || this.#closed ? undefined : silent;
  }

  /** Resolves with true when a node answers with this token; with false if none does in time, or all of `silent` do not use it. */
  #answerTo(token: string, silent?: Set<string>): Promise<boolean> {
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

  #receive(text: string, hear: (message: NodeMessage) => void): void {
    const message = decodeNodeMessage(this.#node(), text);
    if (message?.kind === "read" || message?.kind === "used") this.#unconfirmed.get(message.token)?.(true);
    else if (message?.kind === "unused") this.#unconfirmed.get(message.token)?.(false, message.node);
    else if (message !== undefined) hear(message);
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
  /** Entries of a stream were lost: whoever resumes it must learn of that. */
  | { kind: "lost"; stream: string }
  /** The stored session changed; the node that speaks for it confirms with the token that it has read the change. */
  | { kind: "changed"; token: string }
  | { kind: "read"; token: string }
  /** Asks who speaks for the session, after messages may have been lost. */
  | { kind: "whose" }
  /** Asks whether another node runs something of the session, or has served it within `forMs`. Each answers with the token. */
  | { kind: "idle"; token: string; forMs: number }
  | { kind: "used"; token: string }
  | { kind: "unused"; token: string; node: string }
  /** The session ended. */
  | { kind: "ended"; reason: EndReason };

/** Each message names its sender, because a publisher also receives its own messages. */
interface Envelope {
  from: string;
  message: NodeMessage;
}

function encodeNodeMessage(from: string, message: NodeMessage): string {
  const envelope: Envelope = { from, message };
  return JSON.stringify(envelope);
}

/** The message of another node; undefined for a node's own. Trusts its input, because only our nodes publish there. */
function decodeNodeMessage(ownNode: string, text: string): NodeMessage | undefined {
  const { from, message } = JSON.parse(text) as Envelope;
  return from === ownNode ? undefined : message;
}
