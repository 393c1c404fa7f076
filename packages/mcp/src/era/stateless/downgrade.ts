import type { Revision } from "../../protocol/revisions.js";
import type { Question } from "../era.js";

type Members = Record<string, unknown>;

/** Converts what servers and clients send from the newest form to that of an older stateless revision. */
export interface Downgrade {
  /** A result of a server. Returns the same object if there is nothing to change. */
  result(method: string, result: Members): Members;
  /** The parameters of a server's notification; undefined if the revision does not have the method. */
  notification(method: string, params: object): object | undefined;
  /** A client's answer to a question. */
  answer(method: Question["method"], answer: object): object;
}

/** The downgrade of each stateless revision but the newest, which needs none. So far there is one stateless revision. */
export const DOWNGRADES: Partial<Record<Revision, Downgrade>> = {};
