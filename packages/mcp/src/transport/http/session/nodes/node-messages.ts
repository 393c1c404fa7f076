import type { ErrorMessage, Id, ResultMessage } from "../../../../jsonrpc/message.js";
import type { EndReason } from "../../../transport.js";

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

export function encodeNodeMessage(from: string, message: NodeMessage): string {
  const envelope: Envelope = { from, message };
  return JSON.stringify(envelope);
}

/** The message of another node; undefined for a node's own. Trusts its input, because only our nodes publish there. */
export function decodeNodeMessage(ownNode: string, text: string): NodeMessage | undefined {
  const { from, message } = JSON.parse(text) as Envelope;
  return from === ownNode ? undefined : message;
}
