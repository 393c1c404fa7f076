import { platform } from "#platform";
import { thrownMessage } from "../encoding/thrown-message.js";
import { McpError } from "../protocol/error.js";
import { compareItem, driftSummary, type LockDifference, ownItem } from "./compare-lock.js";
import { checkServerLock } from "./lock-file.js";
import { LISTED_KINDS, type PinnedItem, type PinnedKind, type ServerLock } from "./server-lock.js";

/**
 * The treatment of a definition that differs from the lock. `refuse`: lists leave the definition out, and calls to it
 * are refused. `warn`: it is used, and the difference is printed as a warning. A function decides once per differing
 * definition, and returns true to use it; if the function throws, the definition is refused.
 */
export type OnDrift = "refuse" | "warn" | ((difference: LockDifference) => boolean | Promise<boolean>);

/** The decision about a definition. */
export interface Verdict {
  readonly allowed: boolean;
  /** The difference from the lock; undefined if there is none. */
  readonly difference: LockDifference | undefined;
}

const MAX_DECISIONS = 10_000;

/**
 * Decides by the server's lock and the application's `onDrift` which definitions of one server may be used. All
 * connections to the server share one policy.
 */
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

  /** The differences between the lock and the definitions that the server listed last. */
  get drift(): LockDifference[] {
    return [...this.#drift.values()];
  }

  pinned(kind: PinnedKind, name: string): PinnedItem | undefined {
    return kind === "server" ? this.lock.server : ownItem(this.lock[LISTED_KINDS[kind].member], name);
  }

  /** Decides whether a definition may be used. */
  async judge(kind: PinnedKind, name: string, current: PinnedItem): Promise<Verdict> {
    const difference = compareItem(kind, name, this.pinned(kind, name), current);
    const key = JSON.stringify([kind, kind === "server" ? "" : name]);
    if (difference === undefined) {
      this.#drift.delete(key);
      return { allowed: true, difference };
    }
    if (difference.change === "changed" || this.#drift.size < MAX_DECISIONS) this.#drift.set(key, difference);
    return { allowed: await this.#decision(`${key} ${current.digest}`, difference), difference };
  }

  /** Forgets the differences of definitions that a complete list no longer contains. */
  forgetUnlisted(kind: PinnedKind, names: ReadonlySet<string>): void {
    for (const [key, difference] of this.#drift) {
      if (difference.kind === kind && !names.has(difference.name)) this.#drift.delete(key);
    }
  }

  /** True if calls may use a name that neither the server lists nor the lock contains. */
  get allowsUnlisted(): boolean {
    return this.#onDrift === "warn";
  }

  #decision(key: string, difference: LockDifference): boolean | Promise<boolean> {
    if (this.#onDrift === "refuse") return false;
    const known = this.#decided.get(key);
    if (known !== undefined) return known;
    // Beyond the limit, differing definitions are refused.
    if (this.#decided.size >= MAX_DECISIONS) return false;
    const decided = this.#onDrift === "warn" ? warnOfDrift(difference) : askApplication(this.#onDrift, difference);
    this.#decided.set(key, decided);
    return decided;
  }
}

function warnOfDrift(difference: LockDifference): true {
  platform.warn(`${driftSummary(difference)}; it is used anyway, because \`onDrift\` is "warn"`);
  return true;
}

async function askApplication(decide: Exclude<OnDrift, string>, difference: LockDifference): Promise<boolean> {
  try {
    return (await decide(difference)) === true;
  } catch (error) {
    platform.warn(`\`onDrift\` failed: ${thrownMessage(error)}; refused, because ${driftSummary(difference)}`);
    return false;
  }
}

/** The error for a call to a definition that differs from the lock. */
export function driftRefusal(difference: LockDifference): McpError {
  return new McpError("declined", `refused by the lock: ${driftSummary(difference)}`, {
    fix: "Review the difference (`data`, or `parley lock --check`). To approve it, run `parley lock --update`.",
    data: { drift: [difference] },
  });
}
