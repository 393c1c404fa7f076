import type { Session } from "../../../../era/session.js";

/** A session in storage. */
export interface SessionRecord {
  /** The key of the principal that opened the session. Null without authentication. */
  principal: string | null;
  session: Session;
  /** The place of the session in the quota of its caller, if the server limits sessions. */
  place?: string | undefined;
  /** The nodes that serve the session, if several share the storage. May contain nodes that have vanished. */
  nodes?: readonly string[] | undefined;
}

/**
 * Maximum number of nodes that a record names. Further nodes displace the oldest. A session with that many nodes is not
 * deleted to make room but expires by itself, because the list may be incomplete.
 */
export const MAX_NODES = 32;

export function encodeRecord(record: SessionRecord): string {
  return JSON.stringify(record);
}

/** Does not validate the text, because only nodes of this server write records. */
export function decodeRecord(text: string): SessionRecord {
  return JSON.parse(text) as SessionRecord;
}

/**
 * Merges concurrent changes of one session on two nodes. A member that one side left unchanged gets the value of the
 * other side. If both sides changed a member, `mine` takes precedence. Subscriptions that either side added or removed
 * are all applied.
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
 * The storage keys for the sessions of one server. Each key of a session contains the session id in braces, so that a
 * sharded storage places these keys together.
 */
export class SessionKeys {
  readonly #server: string;

  constructor(server: string | undefined) {
    // Two servers on one storage do not see each other's sessions. Braces are reserved for the session id.
    this.#server = server === undefined ? "http" : `http/${server.replace(/[{}]/g, "_")}`;
  }

  /** The record of a session. Also the topic on which nodes exchange messages about it. */
  session(session: string): string {
    return `${this.#server}/session/{${session}}`;
  }

  /** The position that the first GET stream had reached when its last connection ended. */
  position(session: string): string {
    return `${this.#server}/place/{${session}}`;
  }

  /** The client's answers that one node has received and another node waits for. */
  answers(session: string): string {
    return `${this.#server}/answers/{${session}}`;
  }

  /** For each node, the maximum number of streams that it may have opened for a session. */
  streams(session: string): string {
    return `${this.#server}/streams/{${session}}`;
  }

  /** The log of a stream. Includes the session, so that an event id of one session matches nothing in another. */
  log(session: string, stream: string): string {
    return `${this.#server}/events/{${session}}/${stream}`;
  }

  /** The lease of a node. Exists while the node is alive. */
  lease(node: string): string {
    return `${this.#server}/node/{${node}}`;
  }
}
