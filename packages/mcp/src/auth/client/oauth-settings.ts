import type { Grant } from "./grant.js";
import type { IdentityOptions } from "./identity.js";
import type { IssuerBindings } from "./issuer-bindings.js";
import type { Login } from "./login.js";
import type { TokenStore } from "./token-store.js";

/** The options of `oauth` with their defaults filled in. */
export interface OAuthSettings {
  readonly login: Login | undefined;
  readonly grant: Grant | undefined;
  readonly identity: IdentityOptions;
  readonly store: TokenStore;
  /** Shared by all servers: a secret is bound once. */
  readonly bindings: IssuerBindings;
  readonly scopes: readonly string[] | undefined;
  readonly requiredScopes: readonly string[];
  readonly offlineAccess: boolean;
  readonly dpop: boolean | "auto";
  readonly allowPrivateNetwork: boolean;
  readonly chooseServer: ((issuers: readonly string[]) => string | undefined) | undefined;
}
