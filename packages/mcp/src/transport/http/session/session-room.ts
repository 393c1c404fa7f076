import { guarded } from "../../../encoding/maybe-promise.js";
import { KeyCounts } from "../../../platform/key-counts.js";
import type { Platform, Timer } from "../../../platform/platform.js";
import type { ServerState } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-messenger.js";
import type { HttpSession, SessionShare } from "./session.js";

/** The parts of the session store that `SessionRoom` uses. */
interface RoomStore {
  /** True if no other node shares the storage, so that this node sees all activity. */
  readonly alone: boolean;
  readonly nodes: { readonly id: string; deleteUnused(session: string, forMs: number): Promise<boolean> };
  /** Ends a session on every node. */
  end(session: HttpSession, reason: "expired"): void;
  /** Removes a session from the memory of this node. Its record remains. */
  leave(session: HttpSession): void;
  readonly saver: { removeNode(session: string, serves: () => boolean): Promise<void> };
  readonly failed: (error: unknown) => void;
}

/**
 * Maximum number of pending queries to other nodes. Beyond it, the record of a replaced session is not deleted but
 * expires by itself.
 */
const MAX_QUESTIONS = 1000;
/**
 * A node that has reached a limit evicts 1/32 of that number of sessions at once, so that it seldom searches for idle
 * sessions.
 */
const EVICTION_DIVISOR = 32;

/** Enforces the limits on the sessions of a node and of each principal on it. */
export class SessionRoom {
  readonly #state: ServerState;
  readonly #sessions: ReadonlyMap<string, HttpSession>;
  readonly #shares: PrincipalShares;
  readonly #idle: IdleSweep;
  readonly #store: RoomStore;
  /** Number of running handshakes by principal. Each may create a session. */
  readonly #opening = new KeyCounts();
  #openingAll = 0;
  #questions = 0;

  constructor(
    state: ServerState,
    sessions: ReadonlyMap<string, HttpSession>,
    shares: PrincipalShares,
    idle: IdleSweep,
    store: RoomStore,
  ) {
    this.#state = state;
    this.#sessions = sessions;
    this.#shares = shares;
    this.#idle = idle;
    this.#store = store;
  }

  /**
   * Makes room for a new session and reserves its place. The caller must call `release` when the session exists or the
   * handshake has failed. Returns the name of the limit that forbids a new session, if any.
   */
  reserve(key: string | undefined): { readonly full: string } | { readonly release: () => void } {
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

  /**
   * Makes room for a session that another node has opened. This node serves that session in any case and evicts other
   * idle sessions.
   */
  makeRoomForKnown(key: string | undefined): void {
    const { maxSessions, maxSessionsPerPrincipal } = this.#state.limits;
    const own = this.#shares.sessionsOf(key);
    if (own.size >= maxSessionsPerPrincipal) this.#leaveIdle(own, maxSessionsPerPrincipal);
    else if (this.#sessions.size >= maxSessions) this.#leaveIdle(this.#sessions.values(), maxSessions);
  }

  /** Answers a node that wants to end a session. */
  answer(session: HttpSession, { token, forMs }: { readonly token: string; readonly forMs: number }): NodeMessage {
    if (this.#idle.usedWithin(session, forMs)) return { kind: "used", token };
    // Makes the next request write the record again. The version of the record then changes, and the conditional delete
    // of the other node fails.
    session.joined = false;
    return { kind: "unused", token, node: this.#store.nodes.id };
  }

  /** Removes this node from the record of a session that it no longer serves. */
  #removeNode(id: string): Promise<void> {
    return this.#store.saver.removeNode(id, () => this.#sessions.has(id));
  }

  #leaveIdle(sessions: Iterable<HttpSession>, limit: number): void {
    for (const session of this.#idle.longestIdle(sessions, Math.ceil(limit / EVICTION_DIVISOR))) {
      this.#store.leave(session);
      guarded(() => this.#removeNode(session.id), this.#store.failed);
    }
  }

  /**
   * Removes a session to make room for a new one. The session ends permanently only if it is idle on every node,
   * because this node does not see the requests to other nodes.
   */
  #replace(session: HttpSession): void {
    const store = this.#store;
    if (store.alone) return store.end(session, "expired");
    const now = this.#state.platform.monotonic();
    const { id, activeAt = now, unsubscribe } = session;
    // Keeps the subscription open when `leave` runs, because the replies of the other nodes arrive on it.
    session.unsubscribe = undefined;
    store.leave(session);
    const ask = async () => {
      if (this.#questions >= MAX_QUESTIONS) return;
      this.#questions += 1;
      try {
        if (await store.nodes.deleteUnused(id, now - activeAt)) store.end(session, "expired");
        else await this.#removeNode(id);
      } finally {
        this.#questions -= 1;
      }
    };
    guarded(() => ask().finally(() => unsubscribe?.()), store.failed);
  }
}

/** Idle time after which a session may be replaced by a new one when the node is full. */
const REPLACEABLE_AFTER_MS = 5 * 60_000;

/**
 * Checks all sessions of a node at intervals and reports those that are idle for too long. Activity only sets a field
 * of the session, which is cheaper than a timer for each session. Expiry is late by at most a sixteenth of the idle
 * time.
 */
export class IdleSweep {
  readonly #platform: Platform;
  readonly #sessions: ReadonlyMap<string, HttpSession>;
  readonly #idleMs: number;
  readonly #idle: (session: HttpSession) => void;
  #timer: Timer | undefined;
  /** Time until which no session can be replaced, according to the last search. */
  #noneUntil = Number.NEGATIVE_INFINITY;
  /** Time after which no check is scheduled, so that `arm` must be called. */
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

  /** True if a client uses a session here now, or has done so within the last `ms` milliseconds. */
  usedWithin(session: HttpSession, ms: number): boolean {
    const now = this.#platform.monotonic();
    return now - (session.activeAt ?? now) < ms || session.busy;
  }

  arm(now: number): void {
    this.#timer?.cancel();
    this.#timer = this.#platform.timer(this.#idleMs / 16, () => this.#sweep());
    // Some runtimes drop the timers of a request when the request ends. After this time, the timer is long overdue and
    // will never fire, so a new one is needed.
    this.armedUntil = now + this.#idleMs;
  }

  /** Returns a session that was idle long enough for a new one to replace it, if any. */
  replaceable(): HttpSession | undefined {
    const now = this.#platform.monotonic();
    if (now < this.#noneUntil) return undefined;
    const [longest] = this.longestIdle(this.#sessions.values());
    const since = longest?.activeAt ?? now;
    if (longest !== undefined && now - since >= REPLACEABLE_AFTER_MS) return longest;
    // A flood of handshakes must not search all sessions each time.
    this.#noneUntil = Math.min(since + REPLACEABLE_AFTER_MS, now + 1000);
    return undefined;
  }

  /**
   * Returns the `count` sessions that have been idle for the longest time. Skips sessions that are busy or in their
   * handshake.
   */
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

  #sweep(): void {
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

/** Number of running handshakes: all, and those of the principal that opens a session. */
interface RunningHandshakes {
  readonly all: number;
  readonly own: number;
}

interface RoomDecision {
  readonly replaces?: readonly HttpSession[];
  readonly full?: string;
}

/** The sessions of one authenticated principal on a node. */
interface PrincipalShare extends SessionShare {
  readonly sessions: Set<HttpSession>;
}

const NO_SESSIONS: ReadonlySet<HttpSession> = new Set();

/** The sessions of a node by principal, so that no principal uses up all places. */
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

  /** Removes a session that has ended. */
  delete(session: HttpSession): void {
    const key = session.principal?.key ?? "";
    const share = this.#shares.get(key);
    if (share?.sessions.delete(session) === true && share.sessions.size === 0) this.#shares.delete(key);
  }

  /** Returns the sessions of a principal on this node. Empty without authentication. */
  sessionsOf(key: string | undefined): ReadonlySet<HttpSession> {
    return (key === undefined ? undefined : this.#shares.get(key)?.sessions) ?? NO_SESSIONS;
  }

  /**
   * Decides which sessions a new session of this principal replaces, or which limit forbids it. `count` is the number
   * of sessions on this node.
   */
  room(
    key: string | undefined,
    count: number,
    opening: RunningHandshakes,
    limits: SessionLimits,
    idle: IdleSweep,
  ): RoomDecision {
    const own = this.sessionsOf(key);
    // `excess` is more than one if several handshakes passed at once, or if sessions of other nodes were loaded.
    const excess = own.size + opening.own - limits.maxSessionsPerPrincipal + 1;
    if (excess > 0 && own.size + opening.own > 0) {
      const replaces = idle.longestIdle(own, excess);
      return replaces.length < excess ? { full: "maxSessionsPerPrincipal" } : { replaces };
    }
    if (count + opening.all < limits.maxSessions) return {};
    const replaceable = idle.replaceable() ?? this.#replaceable(own.size, idle);
    return replaceable === undefined ? { full: "maxSessions" } : { replaces: [replaceable] };
  }

  /**
   * Returns a session of the principal with the most sessions, if that principal has at least two more than the
   * requesting principal.
   */
  #replaceable(own: number, idle: IdleSweep): HttpSession | undefined {
    let largest: ReadonlySet<HttpSession> | undefined;
    for (const { sessions } of this.#shares.values()) if (sessions.size > (largest?.size ?? 0)) largest = sessions;
    return largest !== undefined && largest.size > own + 1 ? idle.longestIdle(largest)[0] : undefined;
  }
}
