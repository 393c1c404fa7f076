import type { Platform, Timer } from "../../../platform/platform.js";
import type { HttpSession } from "./session.js";

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
