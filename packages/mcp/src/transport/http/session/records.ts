import type { Session } from "../../../era/session.js";

/** A session in storage. */
export interface SessionRecord {
  /** The key of the principal that opened it; null without authentication. */
  principal: string | null;
  session: Session;
}

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

/** The key of a session in the storage. */
export function keyOf(session: string): string {
  return `http/session/{${session}}`;
}

/** The key of the position that the first GET stream had when its last connection ended. */
export function resumePointKey(session: string): string {
  return `http/place/{${session}}`;
}

/** The topic on which nodes exchange messages about a session. */
export function topicOf(session: string): string {
  return `http/session/{${session}}`;
}

/** Includes the session, so that an event id of one session matches nothing in another. */
export function logNameOf(session: string, stream: string): string {
  return `http/events/{${session}}/${stream}`;
}
