import type { Principal } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import type { ProxyGrants } from "./proxy-grants.js";
import type { Upstream } from "./upstream.js";

/** The provider's tokens, for calls that the server makes for its callers. */
export class UpstreamAccess {
  readonly #grants: ProxyGrants;
  readonly #upstream: Upstream;
  readonly #platform: Platform;
  /** One renewal for each grant: providers end a login whose refresh token comes twice. */
  readonly #renewing = new Map<string, Promise<string | undefined>>();

  constructor(grants: ProxyGrants, upstream: Upstream, platform: Platform) {
    this.#grants = grants;
    this.#upstream = upstream;
    this.#platform = platform;
  }

  /** The token of a caller, renewed if it must be; undefined if the login has ended. */
  async token(caller: Principal): Promise<string | undefined> {
    const id = caller.claims?.["grant"];
    if (typeof id !== "string") return undefined;
    const renewing = this.#renewing.get(id);
    if (renewing !== undefined) return renewing;
    const grant = await this.#grants.find(id);
    if (grant === undefined) return undefined;
    const { accessToken, expiresAt, refreshToken } = grant.upstream;
    if (expiresAt === undefined || expiresAt > this.#platform.now()) return accessToken;
    if (refreshToken === undefined) return undefined;
    const mine = this.#renewing.get(id) ?? this.#renew(id, accessToken).finally(() => this.#renewing.delete(id));
    this.#renewing.set(id, mine);
    return mine;
  }

  async #renew(id: string, old: string): Promise<string | undefined> {
    const before = await this.#grants.find(id);
    if (before === undefined || before.upstream.accessToken !== old) return before?.upstream.accessToken;
    const fresh = await this.#upstream.refresh(before.upstream).catch(() => undefined);
    if (fresh !== undefined) {
      await this.#grants.change(id, (current) => ({ ...current, upstream: fresh }));
      return fresh.accessToken;
    }
    // Another node may have been faster.
    const after = (await this.#grants.find(id))?.upstream.accessToken;
    return after === old ? undefined : after;
  }
}
