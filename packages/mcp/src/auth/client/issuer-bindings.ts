import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { Steps } from "../discovery/steps.js";
import type { OAuthClient } from "./oauth-client.js";
import type { TokenStore } from "./token-store.js";

/**
 * Keeps what a client is given for one issuer from every other: a client belongs to its `issuer`, and a secret without one to
 * the first issuer that it is sent to, which is remembered in the token store.
 *
 * Spec: Authorization, "Authorization Server Binding",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration#authorization-server-binding
 */
export class IssuerBindings {
  readonly #store: TokenStore;
  /** Lookups one after the other, so that two servers cannot both be the first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: TokenStore) {
    this.#store = store;
  }

  /** The only issuer that may see this client; a `secret` that is bound to none is bound to `issuer`. */
  async issuerOf(client: OAuthClient, issuer: string, secret: boolean, platform: Platform): Promise<string> {
    if (client.issuer !== undefined) return client.issuer;
    if (!secret) return issuer;
    const key = keyOf(client, platform);
    const found = this.#last.then(async () => {
      const known = await this.#store.get(key);
      if (known === undefined) await this.#store.set(key, issuer);
      return known ?? issuer;
    });
    this.#last = found.catch(() => {});
    return found;
  }

  /** Throws unless `issuer` may see this client. */
  async require(
    client: OAuthClient,
    issuer: string,
    { secret, steps, platform }: { secret: boolean; steps: Steps; platform: Platform },
  ): Promise<void> {
    const own = await this.issuerOf(client, issuer, secret, platform);
    if (own === issuer) return;
    const isNamed = client.issuer !== undefined;
    throw steps.failure(
      `the server wants tokens of ${issuer}, but the client ${client.clientId} belongs to ${own}${isNamed ? "" : ", to which its secret was sent first"}`,
      isNamed
        ? "Pass a client of this issuer, if you trust the server's choice of it."
        : "Set `issuer` of the client to the authorization server that issued the secret.",
      "other_issuer",
    );
  }
}

/** Two issuers may know different clients by the same id, so the secret is part of the key. */
function keyOf({ clientId, clientSecret = "" }: OAuthClient, platform: Platform): string {
  const digest = platform.sha256(new TextEncoder().encode(`${clientId}\n${clientSecret}`));
  return `issuer of client ${clientId} ${toBase64Url(digest.subarray(0, 16))}`;
}
