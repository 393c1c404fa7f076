import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWK, jwtVerify } from "jose";
import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { DpopNonces } from "./dpop-nonce.js";
import { InvalidToken, type VerifiedToken } from "./verified-token.js";

/** One request whose sender must prove that it holds the key of its token. */
export interface ProvenRequest {
  readonly method: string;
  /** The addresses that this server may be called by. */
  readonly urls: readonly string[];
  readonly proof: string;
  readonly token: string;
}

export const PROOF_ALGORITHMS: readonly string[] = ["ES256", "ES384", "ES512", "RS256", "PS256", "EdDSA", "Ed25519"];
const WINDOW_MS = 300_000;
/** Proofs that were seen; more within the window are refused rather than forgotten. */
const MAX_SEEN = 100_000;
const MAX_LENGTH = 8 * 1024;

/** The proof lacks the nonce of this server, which the answer names. */
export class NonceNeeded extends Error {}

/** Checks proofs of possession (RFC 9449), each of which is good for one request. */
export class DpopProofs {
  readonly #platform: Platform;
  readonly #nonces: DpopNonces | undefined;
  /** By key and `jti`, with the time of their end, oldest first. */
  readonly #seen = new Map<string, number>();

  constructor(platform: Platform, nonces: DpopNonces | undefined) {
    this.#platform = platform;
    this.#nonces = nonces;
  }

  /**
   * Rejects with `InvalidToken` unless the sender holds the key that the token is bound to, and with `NonceNeeded` if its proof
   * is good except for the nonce.
   */
  async check({ method, urls, proof, token }: ProvenRequest, verified: VerifiedToken): Promise<void> {
    if (proof.length > MAX_LENGTH || proof.includes(",")) throw new InvalidToken("the proof is malformed");
    const { payload, jwk } = await this.#verify(proof);
    const expected = jktOf(verified);
    if (expected === undefined || (await calculateJwkThumbprint(jwk)) !== expected) {
      throw new InvalidToken("the token is bound to another key");
    }
    const ath = toBase64Url(this.#platform.sha256(new TextEncoder().encode(token)));
    const { htm, htu, jti, iat } = payload;
    const target = typeof htu === "string" ? withoutQuery(htu) : "";
    const isOwn = htm === method && target !== "" && urls.some((url) => withoutQuery(url) === target);
    if (!isOwn || payload["ath"] !== ath) throw new InvalidToken("the proof is for another request");
    const age = Math.abs(this.#platform.now() - (typeof iat === "number" ? iat : 0) * 1_000);
    if (age > WINDOW_MS) throw new InvalidToken("the proof is too old");
    if (typeof jti !== "string" || jti === "" || jti.length > 256) throw new InvalidToken("the proof has no id");
    if (this.#nonces?.accepts(payload["nonce"]) === false) throw new NonceNeeded();
    this.#once(`${expected} ${jti}`);
  }

  async #verify(proof: string): Promise<{ payload: Record<string, unknown>; jwk: JWK }> {
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: [...PROOF_ALGORITHMS],
        currentDate: new Date(this.#platform.now()),
      });
      const { jwk } = protectedHeader;
      if (jwk === undefined || "d" in jwk) throw new InvalidToken("the proof has no public key");
      return { payload, jwk };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError)
        throw new InvalidToken("the proof is not valid");
      throw error;
    }
  }

  #once(id: string): void {
    const now = this.#platform.monotonic();
    for (const [old, end] of this.#seen) {
      if (end > now) break;
      this.#seen.delete(old);
    }
    if (this.#seen.has(id)) throw new InvalidToken("the proof was used before");
    if (this.#seen.size >= MAX_SEEN) throw new InvalidToken("too many proofs at once");
    this.#seen.set(id, now + 2 * WINDOW_MS);
  }
}

/** The thumbprint of the key that a token is bound to. */
export function jktOf({ claims }: VerifiedToken): string | undefined {
  const cnf = claims["cnf"];
  const jkt = typeof cnf === "object" && cnf !== null && "jkt" in cnf ? cnf.jkt : undefined;
  return typeof jkt === "string" ? jkt : undefined;
}

function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
