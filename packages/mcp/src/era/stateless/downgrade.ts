import type { Revision } from "../../protocol/revisions.js";
import type { Question } from "../era.js";

type Members = Record<string, unknown>;

/** Converts results, notifications and answers from the newest form to that of an older stateless revision. */
export interface Downgrade {
  /** Converts a result of a server. Returns the same object if nothing changes. */
  result(method: string, result: Members): Members;
  /** Converts the parameters of a server's notification. Returns undefined if the revision lacks the method. */
  notification(method: string, params: object): object | undefined;
  /** Converts a client's answer to a question. */
  answer(method: Question["method"], answer: object): object;
}

/** The downgrades of older stateless revisions. Empty, because there is only one stateless revision so far. */
export const DOWNGRADES: Partial<Record<Revision, Downgrade>> = {};
