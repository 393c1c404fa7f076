import type { ErrorMessage, Id, ResultMessage } from "../../../jsonrpc/message.js";

/** What nodes tell each other about one session. */
export type NodeMessage =
  /** There is something new on a stream. */
  | { kind: "log"; stream: string }
  /** A client reads this stream on another node now. */
  | { kind: "taken"; stream: string }
  /** The answer to a request that some node sent. */
  | { kind: "answer"; message: ResultMessage | ErrorMessage }
  /** The client cancelled a request that some node runs. */
  | { kind: "abort"; id: Id; reason: string }
  /** The session record was changed. */
  | { kind: "changed" }
  /** The session is over. */
  | { kind: "ended" };

/** Each message names its sender, because a publisher hears itself. */
interface Envelope {
  from: string;
  message: NodeMessage;
}

export function encodeNodeMessage(from: string, message: NodeMessage): string {
  const envelope: Envelope = { from, message };
  return JSON.stringify(envelope);
}

/** The message of another node; undefined for a node's own. Trusts its input: only our nodes write there. */
export function decodeNodeMessage(own: string, text: string): NodeMessage | undefined {
  const { from, message } = JSON.parse(text) as Envelope;
  return from === own ? undefined : message;
}
