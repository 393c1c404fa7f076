import { platform } from "#platform";
import { thrownMessage } from "../encoding/thrown-message.js";
import { McpError } from "../protocol/error.js";
import { compareItem, driftSummary, type LockDifference, ownItem } from "./compare-lock.js";
import { checkServerLock } from "./lock-file.js";
import { LISTED_KINDS, type PinnedItem, type PinnedKind, type ServerLock } from "./server-lock.js";

/**
 * What becomes of a thing that is not as it was pinned: it is left out of lists and its calls are refused (`refuse`), it is used
 * and the difference is printed as a warning (`warn`), or a function decides, once for each definition that differs: `true` to use
 * it. If the function throws, the thing is refused.
 */
export type OnDrift = "refuse" | "warn" | ((difference: LockDifference) => boolean | Promise<boolean>);

/** A definition that was judged. */
export interface Verdict {
  readonly allowed: boolean;
  /** Undefined if it is as it was pinned. */
  readonly difference: LockDifference | undefined;
}

const MAX_JUDGED = 10_000;

/** Decides what may be used of one server, by its lock and the application; all connections to the server share it. */
export class DriftPolicy {
  readonly lock: ServerLock;
  readonly #onDrift: OnDrift;
  readonly #decided = new Map<string, boolean | Promise<boolean>>();
  readonly #drift = new Map<string, LockDifference>();

  constructor(lock: ServerLock, onDrift: OnDrift = "refuse") {
    checkServerLock(lock, "the given value");
    if (typeof onDrift !== "function" && onDrift !== "refuse" && onDrift !== "warn") {
      throw new McpError("invalid_definition", `\`onDrift\` is ${String(onDrift)}`, {
        fix: 'Use "refuse", "warn" or a function.',
      });
    }
    this.lock = lock;
    this.#onDrift = onDrift;
  }

  /** In what the server differed when it was listed last. */
  get drift(): LockDifference[] {
    return [...this.#drift.values()];
  }

  pinned(kind: PinnedKind, name: string): PinnedItem | undefined {
    return kind === "server" ? this.lock.server : ownItem(this.lock[LISTED_KINDS[kind].member], name);
  }

  /** Whether a definition may be used. */
  async judge(kind: PinnedKind, name: string, current: PinnedItem): Promise<Verdict> {
    const difference = compareItem(kind, name, this.pinned(kind, name), current);
    const key = JSON.stringify([kind, kind === "server" ? "" : name]);
    if (difference === undefined) {
      this.#drift.delete(key);
      return { allowed: true, difference };
    }
    if (difference.change === "changed" || this.#drift.size < MAX_JUDGED) this.#drift.set(key, difference);
    return { allowed: await this.#decision(`${key} ${current.digest}`, difference), difference };
  }

  /** All of a kind was listed: what is not among the names any more differs no more. */
  listed(kind: PinnedKind, names: ReadonlySet<string>): void {
    for (const [key, difference] of this.#drift) {
      if (difference.kind === kind && !names.has(difference.name)) this.#drift.delete(key);
    }
  }

  /** Whether a name that the server does not list, and the lock does not have, may be used. */
  get allowsUnlisted(): boolean {
    return this.#onDrift === "warn";
  }

  #decision(key: string, difference: LockDifference): boolean | Promise<boolean> {
    if (this.#onDrift === "refuse") return false;
    const known = this.#decided.get(key);
    if (known !== undefined) return known;
    // Beyond the limit, definitions that differ are refused.
    if (this.#decided.size >= MAX_JUDGED) return false;
    const decided = this.#onDrift === "warn" ? warned(difference) : asked(this.#onDrift, difference);
    this.#decided.set(key, decided);
    return decided;
  }
}

function warned(difference: LockDifference): true {
  platform.warn(`${driftSummary(difference)}; it is used all the same, because \`onDrift\` is "warn"`);
  return true;
}

async function asked(decide: Exclude<OnDrift, string>, difference: LockDifference): Promise<boolean> {
  try {
    return (await decide(difference)) === true;
  } catch (error) {
    platform.warn(`\`onDrift\` failed: ${thrownMessage(error)}; refused, because ${driftSummary(difference)}`);
    return false;
  }
}

/** The error of a call to something that is not as it was pinned. */
export function driftRefusal(difference: LockDifference): McpError {
  return new McpError("declined", `refused by the lock: ${driftSummary(difference)}`, {
    fix: "Look at the difference (`data`, or `parley lock --check`); if it is all right, approve it by `parley lock --update`.",
    data: { drift: [difference] },
  });
}
