import { guarded } from "../../../encoding/maybe-promise.js";
import { KeyCounts } from "../../../platform/key-counts.js";
import type { Platform, Timer } from "../../../platform/platform.js";
import type { ServerState } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-talk.js";
import type { HttpSession, SessionShare } from "./session.js";

/** The store of sessions, as far as room in it is concerned. */
interface RoomHost {
  /** True if no other node shares the storage, so that this node sees all activity. */
  readonly alone: boolean;
  readonly nodes: { readonly id: string; deleteUnused(session: string, forMs: number): Promise<boolean> };
  /** Ends a session on every node. */
  end(session: HttpSession, reason: "expired"): void;
  /** Removes a session from this node's memory. Its record stays. */
  leave(session: HttpSession): void;
  readonly saver: { part(session: string, serves: () => boolean): Promise<void> };
  readonly failed: (error: unknown) => void;
}

/** Questions to other nodes that may wait for an answer; a session beyond that is left to expire. */
const MAX_QUESTIONS = 1000;
/** The part of a limit that is removed from memory at once, so that the search for idle sessions is rare. */
const AT_ONCE = 32;

/** Keeps the number of sessions of a node, and of each principal on it, within its limits. */
export class SessionRoom {
  readonly #state: ServerState;
  readonly #sessions: ReadonlyMap<string, HttpSession>;
  readonly #shares: PrincipalShares;
  readonly #idle: IdleSweep;
  readonly #host: RoomHost;
  /** By principal, handshakes that run; each may create a session. */
  readonly #opening = new KeyCounts();
  #openingAll = 0;
  #questions = 0;

  constructor(
    state: ServerState,
    sessions: ReadonlyMap<string, HttpSession>,
    shares: PrincipalShares,
    idle: IdleSweep,
    host: RoomHost,
  ) {
    this.#state = state;
    this.#sessions = sessions;
    this.#shares = shares;
    this.#idle = idle;
    this.#host = host;
  }

  /**
   * Makes room for a new session, whose place counts as taken until `release` is called: the session exists then, or never will.
   * Returns the name of the limit that forbids it, if one does.
   */
  take(key: string | undefined): { readonly full: string } | { readonly release: () => void } {
    const opening = { all: this.#openingAll, own: key === undefined ? 0 : this.#opening.get(key) };
    const room = this.#shares.room(key, this.#sessions.size, opening, this.#state.limits, this.#idle);
    if (room.full !== undefined) return { full: room.full };
    for (const session of room.replaces ?? []) this.#replace(session);
    this.#count(key, 1);
    return { release: () => this.#count(key, -1) };
  }

  #count(key: string | undefined, by: 1 | -1): void {
    this.#openingAll += by;
    if (key !== undefined) this.#opening.change(key, by);
  }

  /** Makes room for a session that another node has opened. It is served in any case; others that are idle here make room. */
  takeForKnown(key: string | undefined): void {
    const { maxSessions, maxSessionsPerPrincipal } = this.#state.limits;
    const own = this.#shares.ofKey(key);
    if (own.size >= maxSessionsPerPrincipal) this.#leaveIdle(own, maxSessionsPerPrincipal);
    else if (this.#sessions.size >= maxSessions) this.#leaveIdle(this.#sessions.values(), maxSessions);
  }

  /** The answer to a node that wants to end a session. */
  answer(session: HttpSession, { token, forMs }: { readonly token: string; readonly forMs: number }): NodeMessage {
    if (this.#idle.usedWithin(session, forMs)) return { kind: "used", token };
    // The next request writes to the record again, so that the session is not ended under it.
    session.joined = false;
    return { kind: "unused", token, node: this.#host.nodes.id };
  }

  /** Removes this node from the record of a session that it has left. */
  #part(id: string): Promise<void> {
    return this.#host.saver.part(id, () => this.#sessions.has(id));
  }

  #leaveIdle(sessions: Iterable<HttpSession>, limit: number): void {
    for (const session of this.#idle.longestIdle(sessions, Math.ceil(limit / AT_ONCE))) {
      this.#host.leave(session);
      guarded(() => this.#part(session.id), this.#host.failed);
    }
  }

  /** Gives a session up for a new one. It ends for good only if it is idle on every node: this one does not see the others' requests. */
  #replace(session: HttpSession): void {
    const host = this.#host;
    if (host.alone) return host.end(session, "expired");
    const now = this.#state.platform.monotonic();
    const { id, activeAt = now, unsubscribe } = session;
    // The answer to the question below arrives by this subscription.
    session.unsubscribe = undefined;
    host.leave(session);
    const ask = async () => {
      if (this.#questions >= MAX_QUESTIONS) return;
      this.#questions += 1;
      try {
        if (await host.nodes.deleteUnused(id, now - activeAt)) host.end(session, "expired");
        else await this.#part(id);
      } finally {
        this.#questions -= 1;
      }
    };
    guarded(() => ask().finally(() => unsubscribe?.()), host.failed);
  }
}

/** A session that has been idle for this long may be replaced by a new one when the node is full. */
const YIELDS_AFTER_MS = 5 * 60_000;

/**
 * Checks all sessions of a node at intervals and reports those that are idle for too long. Activity only sets a field of the
 * session, which is cheaper than a timer for each; expiry is late by at most a sixteenth of the idle time.
 */
export class IdleSweep {
  readonly #platform: Platform;
  readonly #sessions: ReadonlyMap<string, HttpSession>;
  readonly #idleMs: number;
  readonly #idle: (session: HttpSession) => void;
  #timer: Timer | undefined;
  /** Until this time no session can be replaced, as the last search has shown. */
  #noneUntil = Number.NEGATIVE_INFINITY;
  /** After this time no check is scheduled, and `arm` must be called. */
  armedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    platform: Platform,
    sessions: ReadonlyMap<string, HttpSession>,
    idleMs: number,
    idle: (session: HttpSession) => void,
  ) {
    this.#platform = platform;
    this.#sessions = sessions;
    this.#idleMs = idleMs;
    this.#idle = idle;
  }

  /** Whether a client uses a session here now, or has done so within the last `ms` milliseconds. */
  usedWithin(session: HttpSession, ms: number): boolean {
    const now = this.#platform.monotonic();
    return now - (session.activeAt ?? now) < ms || session.busy;
  }

  arm(now: number): void {
    this.#timer?.cancel();
    this.#timer = this.#platform.timer(this.#idleMs / 16, () => this.#look());
    // Some runtimes drop the timers of a request when it ends; a timer that is long overdue will never fire.
    this.armedUntil = now + this.#idleMs;
  }

  /** The session that a new one may replace, if any: one that was idle for long. */
  yielding(): HttpSession | undefined {
    const now = this.#platform.monotonic();
    if (now < this.#noneUntil) return undefined;
    const [longest] = this.longestIdle(this.#sessions.values());
    const since = longest?.activeAt ?? now;
    if (longest !== undefined && now - since >= YIELDS_AFTER_MS) return longest;
    // A flood of handshakes must not search all sessions each time.
    this.#noneUntil = Math.min(since + YIELDS_AFTER_MS, now + 1000);
    return undefined;
  }

  /** The `count` of these sessions that have been idle for the longest time, without those that are busy or in their handshake. */
  longestIdle(sessions: Iterable<HttpSession>, count = 1): HttpSession[] {
    const now = this.#platform.monotonic();
    const since = ({ activeAt = now }: HttpSession) => activeAt;
    const idle: HttpSession[] = [];
    for (const session of sessions) {
      if (since(session) >= now || session.busy) continue;
      if (count > 1 || idle[0] === undefined) idle.push(session);
      else if (since(session) < since(idle[0])) idle[0] = session;
    }
    return idle.sort((a, b) => since(a) - since(b)).slice(0, count);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const now = this.#platform.monotonic();
    // Armed before the callbacks, so that their activity does not start a second timer.
    if (this.#sessions.size > 0) this.arm(now);
    else this.armedUntil = Number.NEGATIVE_INFINITY;
    for (const session of [...this.#sessions.values()]) {
      if (session.activeAt === undefined || now - session.activeAt < this.#idleMs) continue;
      this.#idle(session);
    }
  }
}

interface SessionLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerPrincipal: number;
}

/** Handshakes that run: all of them, and those of the principal that asks. */
interface Opening {
  readonly all: number;
  readonly own: number;
}

interface Room {
  readonly replaces?: readonly HttpSession[];
  readonly full?: string;
}

/** The sessions of one authenticated principal on a node. */
interface PrincipalShare extends SessionShare {
  readonly sessions: Set<HttpSession>;
}

const NO_SESSIONS: ReadonlySet<HttpSession> = new Set();

/** The sessions of a node by principal, so that none of them takes all places. */
export class PrincipalShares {
  readonly #shares = new Map<string, PrincipalShare>();

  add(session: HttpSession): void {
    const key = session.principal?.key;
    if (key === undefined) return;
    const known = this.#shares.get(key);
    const share = known ?? { sessions: new Set(), stored: 0, unread: 0 };
    if (known === undefined) this.#shares.set(key, share);
    share.sessions.add(session);
    session.share = session.streams.share = share;
  }

  /** A session has ended, and takes up nothing any more. */
  delete(session: HttpSession): void {
    const key = session.principal?.key ?? "";
    const share = this.#shares.get(key);
    if (share?.sessions.delete(session) === true && share.sessions.size === 0) this.#shares.delete(key);
  }

  /** The sessions of a principal on this node; none without authentication. */
  ofKey(key: string | undefined): ReadonlySet<HttpSession> {
    return (key === undefined ? undefined : this.#shares.get(key)?.sessions) ?? NO_SESSIONS;
  }

  /** Which of `count` sessions a new one of this principal replaces, if it must; or the limit that forbids it. */
  room(key: string | undefined, count: number, opening: Opening, limits: SessionLimits, idle: IdleSweep): Room {
    const own = this.ofKey(key);
    // More than one where several handshakes have passed at once, or sessions of other nodes were loaded.
    const excess = own.size + opening.own - limits.maxSessionsPerPrincipal + 1;
    if (excess > 0 && own.size + opening.own > 0) {
      const replaces = idle.longestIdle(own, excess);
      return replaces.length < excess ? { full: "maxSessionsPerPrincipal" } : { replaces };
    }
    if (count + opening.all < limits.maxSessions) return {};
    const yielding = idle.yielding() ?? this.#yielding(own.size, idle);
    return yielding === undefined ? { full: "maxSessions" } : { replaces: [yielding] };
  }

  /** The principal with the most sessions gives one up, if it has several more than the one who asks. */
  #yielding(own: number, idle: IdleSweep): HttpSession | undefined {
    let largest: ReadonlySet<HttpSession> | undefined;
    for (const { sessions } of this.#shares.values()) if (sessions.size > (largest?.size ?? 0)) largest = sessions;
    return largest !== undefined && largest.size > own + 1 ? idle.longestIdle(largest)[0] : undefined;
  }
}
