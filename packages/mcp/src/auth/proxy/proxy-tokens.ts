import type { ServedDocument } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import { InvalidToken, type VerifiedToken } from "../resource/verified-token.js";
import type { ProxyGrant, ProxyGrants, SealedJson } from "./proxy-grants.js";
import { errorReply, hasRepeatedParameter, jsonReply } from "./proxy-reply.js";

/** The content of an access token of the proxy. */
interface AccessToken {
  readonly grantId: string;
  readonly resource: string;
  readonly expiresAt: number;
}

/** The content of a refresh token of the proxy. */
interface RefreshToken {
  readonly grantId: string;
  /** Number of the refresh token within its grant. Compared with `turn` of the grant. */
  readonly turn: number;
}

/** Options for `ProxyTokens`. */
interface ProxyTokensOptions {
  readonly issuer: string;
  readonly resource: string;
  readonly grants: ProxyGrants;
  readonly sealed: SealedJson;
  readonly platform: Platform;
  readonly accessMs: number;
  readonly grantMs: number;
}

/**
 * Time for which a replaced refresh token is still accepted and yields its replacement: two processes of a client may
 * refresh at once, and a response may be lost. It is longer than the 30 s that a client waits for a response before it
 * retries.
 */
const GRACE_MS = 60_000;
const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;

/**
 * Issues the proxy's own tokens for its own resource, and verifies them. The provider's tokens stay in the storage.
 */
export class ProxyTokens {
  readonly #options: ProxyTokensOptions;

  constructor(options: ProxyTokensOptions) {
    this.#options = options;
  }

  /** Handles the token endpoint. */
  async exchange(form: URLSearchParams): Promise<ServedDocument> {
    if (hasRepeatedParameter(form)) return errorReply(400, "invalid_request", "a parameter is repeated");
    const resource = form.get("resource");
    if (resource !== null && resource !== this.#options.resource) {
      return errorReply(400, "invalid_target", "the resource is not that of this server");
    }
    switch (form.get("grant_type")) {
      case "authorization_code":
        return this.#byCode(form);
      case "refresh_token":
        return this.#byRefresh(form);
      default:
        return errorReply(400, "unsupported_grant_type", "use authorization_code or refresh_token");
    }
  }

  /**
   * Handles the revocation endpoint (RFC 7009): revokes the grant of the token. A token of another client is ignored,
   * and the response does not reveal that.
   */
  async revoke(form: URLSearchParams): Promise<ServedDocument> {
    const { grants, sealed } = this.#options;
    const token = hasRepeatedParameter(form) ? null : form.get("token");
    if (token === null) return errorReply(400, "invalid_request", "exactly one `token` is required");
    const held =
      (await sealed.open<RefreshToken>("refresh", token)) ?? (await sealed.open<AccessToken>("access", token));
    const grant = held === undefined ? undefined : await grants.find(held.grantId);
    // Also revoke a grant that no longer exists. This publishes the revocation again, in case an earlier request
    // deleted the grant but failed to publish that.
    const isOwn = grant === undefined || grant.client === this.#clientOf(form);
    if (held !== undefined && isOwn) await grants.revoke(held.grantId);
    return jsonReply(200, {});
  }

  async verify(token: string): Promise<VerifiedToken> {
    const { sealed, grants, issuer, resource, platform } = this.#options;
    const access = await sealed.open<AccessToken>("access", token);
    if (access === undefined || access.resource !== resource)
      throw new InvalidToken("the token was not issued by this proxy");
    if (access.expiresAt <= platform.now()) throw new InvalidToken("the token has expired", { reason: "expired" });
    const grant = await grants.find(access.grantId);
    if (grant === undefined) throw new InvalidToken("the login was revoked", { reason: "revoked" });
    return {
      issuer,
      subject: grant.subject,
      clientId: grant.client,
      audience: [resource],
      scopes: grant.scopes,
      expiresAt: access.expiresAt,
      claims: { ...grant.claims, grant: access.grantId },
      isRemembered: false,
      onRevoked: (revoked) => grants.onRevoked(access.grantId, revoked),
    };
  }

  async #byCode(form: URLSearchParams): Promise<ServedDocument> {
    const { grants } = this.#options;
    const code = await grants.useCode(form.get("code") ?? "");
    const verifier = form.get("code_verifier") ?? "";
    const isOwn =
      code !== undefined &&
      VERIFIER.test(verifier) &&
      grants.digest(verifier) === code.challenge &&
      this.#clientOf(form) === code.client &&
      form.get("redirect_uri") === code.redirectUri;
    if (!isOwn) {
      // Revoke the grant: a code that comes with a wrong verifier, client or redirect address is probably stolen.
      if (code !== undefined) await grants.revoke(code.grantId);
      return errorReply(400, "invalid_grant", "the code is not valid, or was used before");
    }
    const grant = await grants.find(code.grantId);
    return grant === undefined
      ? errorReply(400, "invalid_grant", "the grant has ended")
      : this.#issue(code.grantId, grant);
  }

  async #byRefresh(form: URLSearchParams): Promise<ServedDocument> {
    const { grants, sealed, platform } = this.#options;
    const refused = errorReply(400, "invalid_grant", "the refresh token is not valid, or was used before");
    const token = await sealed.open<RefreshToken>("refresh", form.get("refresh_token") ?? "");
    if (token === undefined) return refused;
    const known = await grants.find(token.grantId);
    if (known === undefined || known.client !== this.#clientOf(form)) return refused;
    const now = platform.now();
    const next = await grants.change(token.grantId, (grant) =>
      grant.turn === token.turn ? { ...grant, turn: grant.turn + 1, turnedAt: now } : undefined,
    );
    const current = next ?? (await grants.find(token.grantId));
    if (current === undefined) return refused;
    const isReplaced = current.turn === token.turn + 1 && now - (current.turnedAt ?? 0) < GRACE_MS;
    if (next !== undefined || isReplaced) return this.#issue(token.grantId, current);
    // Reuse of a replaced token that is no longer accepted means that the token leaked.
    if (current.turn !== token.turn) await grants.revoke(token.grantId);
    return refused;
  }

  #clientOf(form: URLSearchParams): string {
    return this.#options.grants.clientKey(form.get("client_id") ?? "");
  }

  async #issue(grantId: string, grant: ProxyGrant): Promise<ServedDocument> {
    const { sealed, resource, platform, accessMs, grantMs } = this.#options;
    const access: AccessToken = { grantId, resource, expiresAt: platform.now() + accessMs };
    const refresh: RefreshToken = { grantId, turn: grant.turn };
    return jsonReply(200, {
      access_token: await sealed.seal("access", access, accessMs),
      token_type: "Bearer",
      expires_in: Math.floor(accessMs / 1_000),
      refresh_token: await sealed.seal("refresh", refresh, grantMs),
      ...(grant.scopes.length === 0 ? {} : { scope: grant.scopes.join(" ") }),
    });
  }
}
