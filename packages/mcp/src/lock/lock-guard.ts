import type { ClientMiddleware } from "../client/contract/middleware.js";
import { isObject } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import { nextCursorOf } from "../protocol/message.js";
import type { LockDifference } from "./compare-lock.js";
import { DriftPolicy, driftRefusal, type OnDrift, type Verdict } from "./drift-policy.js";
import {
  LISTED_KINDS,
  type ListedKind,
  type LockableClient,
  pinDefinition,
  pinServer,
  type ServerLock,
} from "./server-lock.js";

const KINDS = Object.keys(LISTED_KINDS) as ListedKind[];
/**
 * Maximum number of stored verdicts of one kind, besides those of pinned names. Calls to a name that is neither stored
 * nor pinned are refused, unless `onDrift` is `warn`.
 */
const MAX_VERDICTS = 10_000;
/**
 * Maximum number of listings in a row. If the server announces changes during a listing, at most one more listing
 * follows.
 */
const MAX_LISTINGS = 2;

/** The verdicts about one kind of definitions, and how current they are. */
interface KindState {
  readonly verdicts: Map<string, Verdict>;
  /** The names on the pages of the current listing so far. */
  seen: Set<string>;
  /** Number of changes that the server has announced. */
  changes: number;
  /** The value of `changes` when all definitions were last judged. */
  judgedAt: number;
  listing: Promise<void> | undefined;
}

/**
 * Enforces a lock on one client: the client lists and calls only definitions that are pinned or that the application
 * allowed.
 */
class LockGuard {
  readonly #client: LockableClient;
  readonly #policy: DriftPolicy;
  readonly #states: Readonly<Record<ListedKind, KindState>>;
  /** The server's name and instructions that were allowed last. */
  #approvedServer: { readonly name: string | undefined; readonly instructions: string | undefined } | undefined;

  constructor(client: LockableClient, policy: DriftPolicy) {
    this.#client = client;
    this.#policy = policy;
    const emptyState = (): KindState => ({
      verdicts: new Map(),
      seen: new Set(),
      changes: 0,
      judgedAt: -1,
      listing: undefined,
    });
    this.#states = { tool: emptyState(), prompt: emptyState(), resourceTemplate: emptyState() };
    for (const kind of KINDS) client.on(LISTED_KINDS[kind].changed, () => this.changed(kind));
    // A new connection may reach another release of the server, so all verdicts are outdated.
    client.on("state", () => KINDS.forEach((kind) => void this.changed(kind)));
    client.use(this.#middleware);
  }

  /** Marks the verdicts of this kind as outdated. */
  changed(kind: ListedKind): void {
    this.#states[kind].changes++;
  }

  /** Judges the server's name and instructions. Rejects if they are refused. */
  async checkServer(): Promise<void> {
    const { serverInfo, instructions } = this.#client;
    const known = this.#approvedServer;
    if (known !== undefined && known.name === serverInfo?.name && known.instructions === instructions) return;
    const name = String(this.#policy.lock.server.definition["name"] ?? serverInfo?.name ?? "");
    const { allowed, difference } = await this.#policy.judge("server", name, pinServer(this.#client));
    if (!allowed && difference !== undefined) throw driftRefusal(difference);
    this.#approvedServer = { name: serverInfo?.name, instructions };
  }

  /** Judges everything that the server lists now. */
  async checkLists(): Promise<void> {
    await Promise.all(KINDS.map((kind) => this.#refresh(kind)));
  }

  readonly #middleware: ClientMiddleware = async (call, next) => {
    const listed = KINDS.find((kind) => LISTED_KINDS[kind].list === call.method);
    if (listed !== undefined) return this.#list(listed, isObject(call.params) && "cursor" in call.params, next);
    const used = KINDS.find((kind) => LISTED_KINDS[kind].use === call.method);
    if (used !== undefined) await this.#admit(used, call.params);
    return next();
  };

  /** Returns a page without the refused definitions. */
  async #list(kind: ListedKind, isLater: boolean, next: () => Promise<Record<string, unknown>>): Promise<object> {
    const state = this.#states[kind];
    const { changes } = state;
    const result = await next();
    const { member, key } = LISTED_KINDS[kind];
    const items = result[member];
    if (!Array.isArray(items)) return result;
    if (!isLater) state.seen = new Set();
    const allowed = await Promise.all(items.map((item: unknown) => this.#isAllowed(kind, key, item)));
    const isLast = nextCursorOf(result) === undefined;
    if (isLast) this.#policy.forgetUnlisted(kind, state.seen);
    if (isLast && !isLater) state.judgedAt = changes;
    return { ...result, [member]: items.filter((_item, at) => allowed[at]) };
  }

  async #isAllowed(kind: ListedKind, key: string, item: unknown): Promise<boolean> {
    const name = isObject(item) ? item[key] : undefined;
    // The client itself drops malformed entries and reports them.
    if (!isObject(item) || typeof name !== "string") return true;
    const verdict = await this.#policy.judge(kind, name, pinDefinition(kind, item));
    const { verdicts, seen } = this.#states[kind];
    seen.add(name);
    const isPinned = this.#policy.pinned(kind, name) !== undefined;
    if (isPinned || verdicts.size < MAX_VERDICTS || verdicts.has(name)) verdicts.set(name, verdict);
    return verdict.allowed;
  }

  /** Throws unless the called tool or prompt was judged after the last change and may be used. */
  async #admit(kind: ListedKind, params: unknown): Promise<void> {
    await this.checkServer();
    const name = isObject(params) ? params["name"] : undefined;
    if (typeof name !== "string") return;
    const state = this.#states[kind];
    if (state.judgedAt !== state.changes) await this.#refresh(kind);
    const verdict = state.verdicts.get(name);
    // A call to a pinned name that is not listed is passed on: the server has never listed a different definition under
    // this name, and refuses the call itself if it does not know the name.
    if (verdict?.allowed === true || (verdict === undefined && this.#policy.pinned(kind, name) !== undefined)) return;
    if (verdict === undefined && this.#policy.allowsUnlisted) return;
    throw driftRefusal(verdict?.difference ?? { kind, name, change: "added", fields: [] });
  }

  /** Lists again. Concurrent callers share one listing. */
  #refresh(kind: ListedKind): Promise<void> {
    const state = this.#states[kind];
    state.listing ??= this.#listUntilCurrent(kind).finally(() => {
      state.listing = undefined;
    });
    return state.listing;
  }

  async #listUntilCurrent(kind: ListedKind): Promise<void> {
    const state = this.#states[kind];
    for (let listings = 0; listings < MAX_LISTINGS && state.judgedAt !== state.changes; listings++) {
      const { changes } = state;
      // The middleware judges each page.
      for await (const _item of this.#all(kind));
      state.judgedAt = changes;
    }
  }

  #all(kind: ListedKind): AsyncIterable<unknown> | readonly unknown[] {
    const { tools, prompts, resources } = this.#client.serverCapabilities;
    const fresh = { cache: false };
    if (kind === "tool") return tools === undefined ? [] : this.#client.tools(fresh);
    if (kind === "prompt") return prompts === undefined ? [] : this.#client.prompts(fresh);
    return resources === undefined ? [] : this.#client.resourceTemplates(fresh);
  }
}

/**
 * Enforces a lock on a client that was just opened. Closes the client if the server's name or instructions are refused.
 * Lists are judged as they arrive.
 */
export async function enforcePolicy(
  client: LockableClient & { close(): Promise<void> },
  policy: DriftPolicy,
): Promise<void> {
  try {
    await new LockGuard(client, policy).checkServer();
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Options of `enforceLock`. */
export interface EnforceLockOptions {
  /** The treatment of definitions that differ from the lock. Default: `refuse`. */
  onDrift?: OnDrift | undefined;
}

/** A lock that is enforced on a client. */
export interface EnforcedLock {
  /** The differences between the server and the lock, as of the latest lists. */
  readonly drift: readonly LockDifference[];
}

/**
 * Enforces a lock on a client from now on. The client's lists leave out tools, prompts and resource templates that
 * differ from the lock, and calls to such tools and prompts reject with `declined`. The error describes the changes and
 * how to approve them. After the server announces a change, definitions are judged again before the next call.
 * `enforceLock` itself rejects with `declined` if the server's name or instructions differ; calls are then refused as
 * well.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/locking-tools.md | Locking tools}
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
  await subscribeToChanges(client, guard);
  await guard.checkLists();
  return {
    get drift() {
      return policy.drift;
    },
  };
}

/** Subscribes to changes, because some revisions send them only to subscribers. */
async function subscribeToChanges(client: LockableClient, guard: LockGuard): Promise<void> {
  const { tools, prompts, resources } = client.serverCapabilities;
  const target = {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resourceList: resources?.listChanged === true,
  };
  if (!Object.values(target).includes(true)) return;
  try {
    void watchChanges(await client.subscribe(target), guard);
  } catch (error) {
    // The server refuses subscriptions. Its lists are judged all the same.
    if (!McpError.from(error).remote) throw error;
  }
}

async function watchChanges(changes: AsyncIterable<{ readonly kind: string }>, guard: LockGuard): Promise<void> {
  try {
    for await (const { kind } of changes) {
      if (kind === "tools") guard.changed("tool");
      if (kind === "prompts") guard.changed("prompt");
      if (kind === "resources") guard.changed("resourceTemplate");
    }
  } catch {
    // The connection was closed or will be reopened. The guard is notified by the `state` event of the client.
  }
}
