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
/** Verdicts of one kind that are kept beside those of pinned names; what has none and is not pinned is refused. */
const MAX_VERDICTS = 10_000;
/** Changes that are announced while a list is under way lead to one more list at most. */
const MAX_LOOKS = 2;

interface Judged {
  readonly verdicts: Map<string, Verdict>;
  /** The names of the pages so far. */
  seen: Set<string>;
  /** Counts the changes that the server told of. */
  changes: number;
  /** The number of changes when all was judged last. */
  judgedAt: number;
  looking: Promise<void> | undefined;
}

/** Holds one client to a lock: what it lists and calls is what was pinned, or what the application let pass. */
class LockGuard {
  readonly #client: LockableClient;
  readonly #policy: DriftPolicy;
  readonly #judged: Readonly<Record<ListedKind, Judged>>;
  /** The server as it was judged last. */
  #known: { readonly name: string | undefined; readonly instructions: string | undefined } | undefined;

  constructor(client: LockableClient, policy: DriftPolicy) {
    this.#client = client;
    this.#policy = policy;
    const nothing = (): Judged => ({
      verdicts: new Map(),
      seen: new Set(),
      changes: 0,
      judgedAt: -1,
      looking: undefined,
    });
    this.#judged = { tool: nothing(), prompt: nothing(), resourceTemplate: nothing() };
    for (const kind of KINDS) client.on(LISTED_KINDS[kind].changed, () => this.changed(kind));
    // Behind a new connection there may be another release of the server.
    client.on("state", () => KINDS.forEach((kind) => void this.changed(kind)));
    client.use(this.#middleware);
  }

  /** Marks what is known of this kind as outdated. */
  changed(kind: ListedKind): void {
    this.#judged[kind].changes++;
  }

  /** Judges what the server says of itself. Rejects if that is refused. */
  async checkServer(): Promise<void> {
    const { serverInfo, instructions } = this.#client;
    const known = this.#known;
    if (known !== undefined && known.name === serverInfo?.name && known.instructions === instructions) return;
    const name = String(this.#policy.lock.server.definition["name"] ?? serverInfo?.name ?? "");
    const { allowed, difference } = await this.#policy.judge("server", name, pinServer(this.#client));
    if (!allowed && difference !== undefined) throw driftRefusal(difference);
    this.#known = { name: serverInfo?.name, instructions };
  }

  /** Judges all that the server lists now. */
  async checkLists(): Promise<void> {
    await Promise.all(KINDS.map((kind) => this.#look(kind)));
  }

  readonly #middleware: ClientMiddleware = async (call, next) => {
    const listed = KINDS.find((kind) => LISTED_KINDS[kind].list === call.method);
    if (listed !== undefined) return this.#list(listed, isObject(call.params) && "cursor" in call.params, next);
    const used = KINDS.find((kind) => LISTED_KINDS[kind].use === call.method);
    if (used !== undefined) await this.#admit(used, call.params);
    return next();
  };

  /** A page without what is refused. */
  async #list(kind: ListedKind, isLater: boolean, next: () => Promise<Record<string, unknown>>): Promise<object> {
    const judged = this.#judged[kind];
    const { changes } = judged;
    const result = await next();
    const { member, key } = LISTED_KINDS[kind];
    const items = result[member];
    if (!Array.isArray(items)) return result;
    if (!isLater) judged.seen = new Set();
    const allowed = await Promise.all(items.map((item: unknown) => this.#isAllowed(kind, key, item)));
    const isLast = nextCursorOf(result) === undefined;
    if (isLast) this.#policy.listed(kind, judged.seen);
    if (isLast && !isLater) judged.judgedAt = changes;
    return { ...result, [member]: items.filter((_item, at) => allowed[at]) };
  }

  async #isAllowed(kind: ListedKind, key: string, item: unknown): Promise<boolean> {
    const name = isObject(item) ? item[key] : undefined;
    // The client itself leaves out what is malformed, and says so.
    if (!isObject(item) || typeof name !== "string") return true;
    const verdict = await this.#policy.judge(kind, name, pinDefinition(kind, item));
    const { verdicts, seen } = this.#judged[kind];
    seen.add(name);
    const isPinned = this.#policy.pinned(kind, name) !== undefined;
    if (isPinned || verdicts.size < MAX_VERDICTS || verdicts.has(name)) verdicts.set(name, verdict);
    return verdict.allowed;
  }

  /** Throws unless what is called was judged, after the last change, and may be used. */
  async #admit(kind: ListedKind, params: unknown): Promise<void> {
    await this.checkServer();
    const name = isObject(params) ? params["name"] : undefined;
    if (typeof name !== "string") return;
    const judged = this.#judged[kind];
    if (judged.judgedAt !== judged.changes) await this.#look(kind);
    const verdict = judged.verdicts.get(name);
    // One that is pinned and not listed is the server's to refuse: it has shown nothing else under this name.
    if (verdict?.allowed === true || (verdict === undefined && this.#policy.pinned(kind, name) !== undefined)) return;
    if (verdict === undefined && this.#policy.allowsUnlisted) return;
    throw driftRefusal(verdict?.difference ?? { kind, name, change: "added", fields: [] });
  }

  /** Lists again; concurrent callers share the same list. */
  #look(kind: ListedKind): Promise<void> {
    const judged = this.#judged[kind];
    judged.looking ??= this.#lookOften(kind).finally(() => {
      judged.looking = undefined;
    });
    return judged.looking;
  }

  async #lookOften(kind: ListedKind): Promise<void> {
    const judged = this.#judged[kind];
    for (let looks = 0; looks < MAX_LOOKS && judged.judgedAt !== judged.changes; looks++) {
      const { changes } = judged;
      // The middleware sees each page.
      for await (const _item of this.#all(kind));
      judged.judgedAt = changes;
    }
  }

  #all(kind: ListedKind): AsyncIterable<unknown> | readonly unknown[] {
    const { tools, prompts, resources } = this.#client.serverCapabilities;
    const anew = { cache: false };
    if (kind === "tool") return tools === undefined ? [] : this.#client.tools(anew);
    if (kind === "prompt") return prompts === undefined ? [] : this.#client.prompts(anew);
    return resources === undefined ? [] : this.#client.resourceTemplates(anew);
  }
}

/** Holds a client to a lock, and closes it if its server does not say of itself what was approved. Lists are judged as they come. */
export async function holdOpened(
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
  /** The treatment of things that are not as they were pinned. Default: `refuse`. */
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
    // The connection is closed, or will be opened again, which the guard is notified of.
  }
}
