import type { ErrorMessage, Id, ResultMessage } from "../../../jsonrpc/message.js";

/** What nodes tell each other about one session. */
export type SessionNews =
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
  news: SessionNews;
}

export function encodeNews(from: string, news: SessionNews): string {
  const envelope: Envelope = { from, news };
  return JSON.stringify(envelope);
}

/** The news of another node; undefined for a node's own. Trusts its input: only our nodes write there. */
export function decodeNews(own: string, text: string): SessionNews | undefined {
  const { from, news } = JSON.parse(text) as Envelope;
  return from === own ? undefined : news;
}
