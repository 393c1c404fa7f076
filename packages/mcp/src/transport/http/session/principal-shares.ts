import type { IdleSweep } from "./idle-sweep.js";
import type { HttpSession, SessionShare } from "./session.js";

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
