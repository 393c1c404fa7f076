import { guarded } from "../../../encoding/maybe-promise.js";
import type { ServerState } from "../server/state.js";
import type { IdleSweep } from "./idle-sweep.js";
import type { PrincipalShares } from "./principal-shares.js";
import type { HttpSession } from "./session.js";

/** The store of sessions, as far as room in it is concerned. */
interface RoomHost {
  /** True if no other node shares the storage, so that this node sees all activity. */
  readonly alone: boolean;
  readonly nodes: { isUsed(session: string, forMs: number): Promise<boolean> };
  /** Ends a session on every node. */
  end(session: HttpSession, reason: "expired"): void;
  /** Removes a session from this node's memory. Its record stays. */
  leave(session: HttpSession): void;
  failed(error: unknown): void;
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

  /** Makes room for a new session beside `opening` others, or returns the name of the limit that forbids it. */
  take(key: string | undefined, opening: number): string | undefined {
    const room = this.#shares.room(key, this.#sessions.size + opening, this.#state.limits, this.#idle);
    if (room.replaces !== undefined) this.#replace(room.replaces);
    return room.full;
  }

  /** Makes room for a session that another node has opened. It is served in any case; others that are idle here make room. */
  takeForKnown(key: string | undefined): void {
    const { maxSessions, maxSessionsPerPrincipal } = this.#state.limits;
    const own = this.#shares.ofKey(key);
    if (own.size >= maxSessionsPerPrincipal) this.#leaveIdle(own, maxSessionsPerPrincipal);
    else if (this.#sessions.size >= maxSessions) this.#leaveIdle(this.#sessions.values(), maxSessions);
  }

  #leaveIdle(sessions: Iterable<HttpSession>, limit: number): void {
    for (const session of this.#idle.longestIdle(sessions, Math.ceil(limit / AT_ONCE))) this.#host.leave(session);
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
        if ((await host.nodes.isUsed(id, now - activeAt)) || this.#sessions.has(id)) return;
        host.end(session, "expired");
      } finally {
        this.#questions -= 1;
      }
    };
    const failed = (error: unknown) => host.failed(error);
    guarded(() => ask().finally(() => unsubscribe?.()), failed);
  }
}
