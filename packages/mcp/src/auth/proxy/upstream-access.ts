import type { Principal } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";
import type { ProxyGrants } from "./proxy-grants.js";
import type { Upstream } from "./upstream.js";

/** The parts of `UpstreamAccess`. */
export interface UpstreamAccessParts {
  readonly grants: ProxyGrants;
  readonly upstream: Upstream;
  readonly kv: KeyValue;
  readonly platform: Platform;
}

/** How long the other nodes wait for one that crashed while it renewed a token. A node that lives extends it. */
const LEASE_MS = 5_000;
const EXTEND_MS = 1_500;
/** How often a node looks whether another one has finished. */
const POLL_MS = 100;
/** A minute: longer than a provider has for its answer. */
const MAX_POLLS = 600;
/** How long those who waited learn that the provider refused, instead of asking it once each. */
const FAILED_MS = 1_000;
const [HELD, FAILED] = ["held", "failed"];

/** The provider's tokens, for calls that the server makes for its callers. */
export class UpstreamAccess {
  readonly #parts: UpstreamAccessParts;
  /** One renewal for each grant: providers end a login whose refresh token comes twice. */
  readonly #renewing = new Map<string, Promise<string | undefined>>();

  constructor(parts: UpstreamAccessParts) {
    this.#parts = parts;
  }

  /** The token of a caller, renewed if it must be; undefined if the login has ended. */
  async token(caller: Principal): Promise<string | undefined> {
    const id = caller.claims?.["grant"];
    if (typeof id !== "string") return undefined;
    const renewing = this.#renewing.get(id);
    if (renewing !== undefined) return renewing;
    const grant = await this.#parts.grants.find(id);
    if (grant === undefined) return undefined;
    const { accessToken, expiresAt, refreshToken } = grant.upstream;
    if (expiresAt === undefined || expiresAt > this.#parts.platform.now()) return accessToken;
    if (refreshToken === undefined) return undefined;
    const mine = this.#renewing.get(id) ?? this.#renewed(id, accessToken).finally(() => this.#renewing.delete(id));
    this.#renewing.set(id, mine);
    return mine;
  }

  /** Renews a token on one node at a time; the others wait for its result. Undefined if it could not be renewed. */
  async #renewed(id: string, old: string): Promise<string | undefined> {
    const { grants, kv, platform } = this.#parts;
    const key = grants.key("renewal", id);
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const lease = await kv.get(key);
      // Read after the lease: a renewal that ended before is in the grant.
      const grant = await grants.find(id);
      if (grant === undefined) return undefined;
      if (grant.upstream.accessToken !== old) return grant.upstream.accessToken;
      if (lease?.value === FAILED && polls > 0) return undefined;
      if (lease?.value !== HELD) {
        const version = await kv.set(key, HELD, { ttlMs: LEASE_MS, ifVersion: lease?.version ?? 0 });
        if (version !== undefined) return this.#renew(id, old, key, version);
      }
      await new Promise<void>((resolve) => platform.timer(POLL_MS, resolve, true));
    }
    return undefined;
  }

  /** Renews a token under the lease, and gives the lease back. */
  async #renew(id: string, old: string, key: string, version: number): Promise<string | undefined> {
    const { grants, kv } = this.#parts;
    const stop = this.#extend(key);
    let isDone = false;
    try {
      const grant = await grants.find(id);
      // Another node may have finished between the look at the grant and the lease.
      isDone = grant?.upstream.accessToken !== old;
      if (grant === undefined || isDone) return grant?.upstream.accessToken;
      const fresh = await this.#parts.upstream.refresh(grant.upstream).catch(() => undefined);
      if (fresh === undefined) return undefined;
      const changed = await grants.change(id, (current) => ({ ...current, upstream: fresh }));
      isDone = true;
      return changed?.upstream.accessToken;
    } finally {
      stop();
      await (isDone
        ? kv.delete(key, { ifVersion: version })
        : kv.set(key, FAILED, { ttlMs: FAILED_MS, ifVersion: version }));
    }
  }

  /** Keeps the lease until the returned function is called. */
  #extend(key: string): () => void {
    const { kv, platform } = this.#parts;
    let timer = platform.timer(EXTEND_MS, extend);
    async function extend(): Promise<void> {
      timer = platform.timer(EXTEND_MS, extend);
      try {
        await kv.touch(key, LEASE_MS);
      } catch {
        // Without the storage the lease runs out, as it must.
      }
    }
    return () => timer.cancel();
  }
}
