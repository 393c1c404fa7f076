import type { Platform, Timer } from "../../../platform/platform.js";
import type { HttpSession } from "./session.js";

/** A session idle for this long may give way to a new one when the node is full. */
const YIELDS_AFTER_MS = 5 * 60_000;

/**
 * Looks from time to time which sessions of a node are idle for longer than they may. To note activity costs no more than
 * a field of the session, and a session is found at most a sixteenth of the idle time late.
 */
export class IdleSweep {
  readonly #platform: Platform;
  readonly #sessions: ReadonlyMap<string, HttpSession>;
  readonly #idleMs: number;
  readonly #idle: (session: HttpSession) => void;
  #timer: Timer | undefined;
  /** Until then no session can yield: the last look has shown it. */
  #noneUntil = Number.NEGATIVE_INFINITY;
  /** After this time no look is to come any more, and `arm` has to be called. */
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

  arm(now: number): void {
    this.#timer?.cancel();
    this.#timer = this.#platform.timer(this.#idleMs / 16, () => this.#look());
    // Some runtimes drop the timers of a request when it ends; one that is long overdue will not come any more.
    this.armedUntil = now + this.#idleMs;
  }

  /** A session that can give way to a new one. */
  yielding(): HttpSession | undefined {
    const now = this.#platform.now();
    if (now < this.#noneUntil) return undefined;
    let longest: HttpSession | undefined;
    let since = now;
    for (const session of this.#sessions.values()) {
      const { activeAt = now } = session;
      if (activeAt >= since || session.busy) continue;
      longest = session;
      since = activeAt;
    }
    if (longest !== undefined && now - since >= YIELDS_AFTER_MS) return longest;
    // Whoever asks again and again must not make the node look through all sessions each time.
    this.#noneUntil = Math.min(since + YIELDS_AFTER_MS, now + 1000);
    return undefined;
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const now = this.#platform.now();
    // Armed before the calls, whose own notes of activity must not start a second timer.
    if (this.#sessions.size > 0) this.arm(now);
    else this.armedUntil = Number.NEGATIVE_INFINITY;
    for (const session of [...this.#sessions.values()]) {
      if (session.activeAt === undefined || now - session.activeAt < this.#idleMs) continue;
      this.#idle(session);
    }
  }
}
