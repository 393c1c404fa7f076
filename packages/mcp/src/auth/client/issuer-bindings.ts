import type { Steps } from "../discovery/steps.js";
import type { OAuthClient } from "./oauth-client.js";
import { locked, type TokenStore } from "./token-store.js";

/**
 * Keeps what a client is given for one issuer from every other: a client belongs to its `issuer`, and a secret without one to
 * the issuer that the client was used with before, which is remembered in the token store. The secret may change, and the client
 * stays where it is; naming another `issuer` moves it.
 *
 * Spec: Authorization, "Authorization Server Binding",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration#authorization-server-binding
 */
export class IssuerBindings {
  readonly #store: TokenStore;
  /** Changes one after the other, so that two servers cannot both be the first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: TokenStore) {
    this.#store = store;
  }

  /** The only issuer that may see this client, which the program has named; a `secret` that is bound to none is bound to `issuer`. */
  async issuerOf(client: OAuthClient, issuer: string, secret: boolean): Promise<string> {
    const named = client.issuer;
    if (!secret || (named !== undefined && named !== issuer)) return named ?? issuer;
    const key = `issuer of client ${client.clientId}`;
    const isSettled = (known: string | undefined) => known !== undefined && (named === undefined || named === known);
    const known = await this.#store.get(key);
    if (known !== undefined && isSettled(known)) return known;
    const bind = async () => {
      const before = await this.#store.get(key);
      if (!isSettled(before)) await this.#store.set(key, issuer);
      // Another process may have been faster where the store has no lock.
      return named ?? (await this.#store.get(key)) ?? issuer;
    };
    const found = this.#last.then(() => locked(this.#store, key, bind));
    this.#last = found.catch(() => {});
    return found;
  }

  /** Throws unless `issuer` may see this client. */
  async require(
    client: OAuthClient,
    issuer: string,
    { secret, steps }: { secret: boolean; steps: Steps },
  ): Promise<void> {
    const own = await this.issuerOf(client, issuer, secret);
    if (own === issuer) return;
    const isNamed = client.issuer !== undefined;
    throw steps.failure(
      `the server wants tokens of ${issuer}, but the client ${client.clientId} belongs to ${own}${isNamed ? "" : ", with which it was used before"}`,
      isNamed
        ? "Pass a client of this issuer, if you trust the server's choice of it."
        : "Set `issuer` of the client to the authorization server that issued the secret.",
      "other_issuer",
    );
  }
}

/** Shared by all that use a store in this process, so that they take turns. */
const known = new WeakMap<TokenStore, IssuerBindings>();

/** The bindings that `store` remembers; `named` is the same store, whose failures say which of its functions failed. */
export function bindingsOf(store: TokenStore, named: TokenStore): IssuerBindings {
  const bindings = known.get(store) ?? new IssuerBindings(named);
  known.set(store, bindings);
  return bindings;
}
