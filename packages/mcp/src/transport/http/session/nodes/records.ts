import type { Session } from "../../../../era/session.js";

/** A session in storage. */
export interface SessionRecord {
  /** The key of the principal that opened it; null without authentication. */
  principal: string | null;
  session: Session;
  /** Its place among the sessions of its caller, where the server limits them. */
  place?: string | undefined;
  /** The nodes that serve it, where several share the storage. One that vanished may be among them. */
  nodes?: readonly string[] | undefined;
}

/** How many nodes a record names; a session of so many is left to expire in place of being ended for another one. */
export const MAX_NODES = 32;

export function encodeRecord(record: SessionRecord): string {
  return JSON.stringify(record);
}

/** Trusts its input, because only this server writes there. */
export function decodeRecord(text: string): SessionRecord {
  return JSON.parse(text) as SessionRecord;
}

/**
 * Merges two concurrent changes of one session on two nodes: a member that one side left unchanged takes the other's
 * value, and both sides' added and removed subscriptions apply.
 */
export function mergeSessions(base: Session, mine: Session, theirs: Session): Session {
  const merged: Session = { ...theirs };
  if (mine.initialized !== base.initialized) merged.initialized = mine.initialized;
  if (mine.usedEarly === true) merged.usedEarly = true;
  if (mine.logLevel !== base.logLevel && mine.logLevel !== undefined) merged.logLevel = mine.logLevel;
  const before = new Set(base.subscriptions);
  const kept = new Set(mine.subscriptions);
  const subscriptions = new Set(theirs.subscriptions.filter((uri) => kept.has(uri) || !before.has(uri)));
  for (const uri of mine.subscriptions) if (!before.has(uri)) subscriptions.add(uri);
  merged.subscriptions = [...subscriptions];
  return merged;
}

/**
 * The names of what the storage has of the sessions of one server. Each has the id of its session in braces, so that a store of
 * several parts keeps them together.
 */
export class SessionKeys {
  readonly #server: string;

  constructor(server: string | undefined) {
    // Two servers on one storage do not see each other's sessions. Braces belong to the session.
    this.#server = server === undefined ? "http" : `http/${server.replace(/[{}]/g, "_")}`;
  }

  /** The record of a session; also the topic on which nodes exchange messages about it. */
  session(session: string): string {
    return `${this.#server}/session/{${session}}`;
  }

  /** The position that the first GET stream had when its last connection ended. */
  place(session: string): string {
    return `${this.#server}/place/{${session}}`;
  }

  /** The client's answers to questions of other nodes than the one that received them. */
  answers(session: string): string {
    return `${this.#server}/answers/{${session}}`;
  }

  /** Which streams the nodes have opened for a session. */
  streams(session: string): string {
    return `${this.#server}/streams/{${session}}`;
  }

  /** The log of a stream. Includes the session, so that an event id of one session matches nothing in another. */
  log(session: string, stream: string): string {
    return `${this.#server}/events/{${session}}/${stream}`;
  }

  /** Exists while a node is alive. */
  lease(node: string): string {
    return `${this.#server}/node/{${node}}`;
  }
}
