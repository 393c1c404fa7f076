import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { LockDifference } from "./compare-lock.js";
import { DriftPolicy, type OnDrift } from "./drift-policy.js";
import { LockGuard } from "./lock-guard.js";
import type { LockableClient } from "./lock-of.js";
import type { ServerLock } from "./server-lock.js";

/** Options of `enforceLock`. */
export interface EnforceLockOptions {
  /** What becomes of things that are not as they were pinned. Default: `refuse`. */
  onDrift?: OnDrift | undefined;
}

/** A lock that a client is held to. */
export interface EnforcedLock {
  /** In what the server differs from the lock, as far as it was listed since. */
  readonly drift: readonly LockDifference[];
}

/**
 * Holds a client to a lock from now on. Tools, prompts and resource templates that are not as they were pinned are left out of
 * its lists, and calls of such tools and prompts reject with `declined`; the error says what changed and how to approve it.
 * Whatever the server changes later is judged when it tells of it, before the next call. Rejects with `declined` if the server's
 * name or instructions differ, and calls are refused then.
 */
export async function enforceLock(
  client: LockableClient,
  lock: ServerLock,
  options: EnforceLockOptions = {},
): Promise<EnforcedLock> {
  checkOptions("enforceLock", options, "onDrift");
  const policy = new DriftPolicy(lock, options.onDrift);
  const guard = new LockGuard(client, policy);
  await guard.checkServer();
  await follow(client, guard);
  await guard.checkLists();
  return {
    get drift() {
      return policy.drift;
    },
  };
}

/** Some revisions tell of changes only who asks. */
async function follow(client: LockableClient, guard: LockGuard): Promise<void> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const target = {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resourceList: resources?.listChanged === true,
  };
  if (!Object.values(target).includes(true)) return;
  try {
    void hear(await client.subscribe(target), guard);
  } catch (error) {
    // It refuses to tell; every list that it gives is judged all the same.
    if (!McpError.from(error).remote) throw error;
  }
}

async function hear(changes: AsyncIterable<{ readonly kind: string }>, guard: LockGuard): Promise<void> {
  try {
    for await (const { kind } of changes) {
      if (kind === "tools") guard.changed("tool");
      if (kind === "prompts") guard.changed("prompt");
      if (kind === "resources") guard.changed("resourceTemplate");
    }
  } catch {
    // The connection is over, or will be opened anew, which the guard hears of.
  }
}
