import { exportJWK, generateKeyPair, importJWK, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { Challenge } from "../discovery/challenge.js";
import type { Discovered } from "../discovery/discover.js";
import type { Steps } from "../discovery/steps.js";

const ALGORITHM = "ES256";
const MAX_NONCES = 32;

/** A key that tokens are bound to (RFC 9449), so that a stolen token is worth nothing. */
export class DpopKey {
  readonly #private: CryptoKey;
  readonly #public: CryptoKey;
  readonly #publicJwk: JsonWebKey;
  /** The newest nonce of each server. */
  readonly #nonces = new Map<string, string>();

  private constructor(privateKey: CryptoKey, publicKey: CryptoKey, publicJwk: JsonWebKey) {
    this.#private = privateKey;
    this.#public = publicKey;
    this.#publicJwk = publicJwk;
  }

  static async create(): Promise<DpopKey> {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    return new DpopKey(privateKey, publicKey, await exportJWK(publicKey));
  }

  static async from(stored: JsonWebKey): Promise<DpopKey> {
    const { d: _private, key_ops: _uses, ...publicJwk } = stored;
    // `importJWK` gives bytes for symmetric keys only, and these are key pairs of `create`.
    const read = async (jwk: JsonWebKey) =>
      (await importJWK(jwk as never, ALGORITHM, { extractable: true })) as CryptoKey;
    return new DpopKey(await read(stored), await read(publicJwk), publicJwk);
  }

  /** The private key, for a store that keeps secrets. */
  export(): Promise<JsonWebKey> {
    return exportJWK(this.#private);
  }

  /** For requests that `oauth4webapi` makes. */
  handle(client: oauth.Client): oauth.DPoPHandle {
    return oauth.DPoP(client, { privateKey: this.#private, publicKey: this.#public });
  }

  /** Remembers the nonce that a server wants in the next proof. */
  learn(origin: string, nonce: string): void {
    if (this.#nonces.size >= MAX_NONCES) this.#nonces.clear();
    this.#nonces.set(origin, nonce);
  }

  /** The proof that goes with one request. */
  async proof(method: string, address: string, accessToken: string, platform: Platform): Promise<string> {
    const { origin, pathname } = new URL(address);
    const nonce = this.#nonces.get(origin);
    const digest = platform.sha256(new TextEncoder().encode(accessToken));
    const claims = {
      htm: method,
      htu: `${origin}${pathname}`,
      ath: toBase64Url(digest),
      ...(nonce === undefined ? {} : { nonce }),
    };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ: "dpop+jwt", jwk: this.#publicJwk as never })
      .setJti(toBase64Url(platform.randomBytes(16)))
      .setIssuedAt(Math.floor(platform.now() / 1_000))
      .sign(this.#private);
  }
}

/** Whether the next token is to be bound to a key: where the program, the server or its metadata asks for it and both sides can. */
export function wantsDpop(
  setting: boolean | "auto",
  { server, requiresDpop }: Discovered,
  challenge: Challenge | undefined,
  steps: Steps,
): boolean {
  const isAsked = setting === true || (setting === "auto" && (requiresDpop || challenge?.scheme === "dpop"));
  const algorithms = server.dpop_signing_alg_values_supported;
  if (!isAsked || algorithms === undefined || algorithms.includes("ES256")) return isAsked;
  steps.note("proof of possession", `the server supports ${algorithms.join(", ").slice(0, 200)}, not ES256`);
  return false;
}
