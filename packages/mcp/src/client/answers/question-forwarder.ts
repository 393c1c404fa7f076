import type { Question } from "../../era/era.js";
import type { Id } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Revision } from "../../protocol/revisions.js";

/** Answers a server's questions in place of the application, for a client that passes calls of others on. */
export interface QuestionForwarder {
  /** What the server may ask for, beside extensions. */
  capabilities(revision: Revision): ClientCapabilities;
  /**
   * The bare result for a well-formed question. `about` is the request that it belongs to, if the transport knows. Rejects
   * with an `McpError` when there is no answer; `signal` is aborted when the server no longer wants one.
   */
  answer(question: Question, about: Id | undefined, signal: AbortSignal): Promise<object>;
}
