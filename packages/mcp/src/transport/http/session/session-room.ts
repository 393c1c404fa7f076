import { guarded } from "../../../encoding/maybe-promise.js";
import { KeyCounts } from "../../../platform/key-counts.js";
import type { ServerState } from "../server/state.js";
import type { IdleSweep } from "./idle-sweep.js";
import type { NodeMessage } from "./nodes/node-messages.js";
import type { PrincipalShares } from "./principal-shares.js";
import type { HttpSession } from "./session.js";

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
