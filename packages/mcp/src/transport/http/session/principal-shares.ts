import type { IdleSweep } from "./idle-sweep.js";
import type { HttpSession } from "./session.js";

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

const NO_SESSIONS: ReadonlySet<HttpSession> = new Set();

/** Which sessions of a node belong to which authenticated principal, so that none of them takes all places. */
export class PrincipalShares {
  readonly #sessions = new Map<string, Set<HttpSession>>();
  /** Characters in the logs of a principal's sessions. */
  readonly #kept = new Map<string, number>();

  add(session: HttpSession): void {
    const key = session.principal?.key;
    if (key === undefined) return;
    const known = this.#sessions.get(key);
    if (known === undefined) this.#sessions.set(key, new Set([session]));
    else known.add(session);
  }

  delete(session: HttpSession): void {
    const key = session.principal?.key;
    const known = key === undefined ? undefined : this.#sessions.get(key);
    if (key === undefined || known?.delete(session) !== true || known.size > 0) return;
    this.#sessions.delete(key);
  }

  /** Characters in the logs of all sessions of this one's principal; 0 without authentication. */
  kept({ principal }: HttpSession): number {
    return principal === undefined ? 0 : (this.#kept.get(principal.key) ?? 0);
  }

  keep({ principal }: HttpSession, length: number): void {
    if (principal === undefined || length === 0) return;
    const kept = (this.#kept.get(principal.key) ?? 0) + length;
    if (kept > 0) this.#kept.set(principal.key, kept);
    else this.#kept.delete(principal.key);
  }

  /** The sessions of this one's principal on this node. */
  of(session: HttpSession): Iterable<HttpSession> {
    return this.#sessions.get(session.principal?.key ?? "") ?? [session];
  }

  /** The sessions of a principal on this node; none without authentication. */
  ofKey(key: string | undefined): ReadonlySet<HttpSession> {
    return (key === undefined ? undefined : this.#sessions.get(key)) ?? NO_SESSIONS;
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
    for (const sessions of this.#sessions.values()) if (sessions.size > (largest?.size ?? 0)) largest = sessions;
    return largest !== undefined && largest.size > own + 1 ? idle.longestIdle(largest)[0] : undefined;
  }
}
