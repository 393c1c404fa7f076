import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWK, jwtVerify } from "jose";
import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { DpopNonces } from "./dpop-nonce.js";
import type { SeenProofs } from "./seen-proofs.js";
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
const MAX_LENGTH = 8 * 1024;

/** The proof lacks the nonce of this server, which the answer names. */
export class NonceNeeded extends Error {}

/** Checks proofs of possession (RFC 9449), each of which is good for one request. */
export class DpopProofs {
  readonly #platform: Platform;
  readonly #nonces: DpopNonces | undefined;
  readonly #seen: SeenProofs;

  constructor(platform: Platform, nonces: DpopNonces | undefined, seen: SeenProofs) {
    this.#platform = platform;
    this.#nonces = nonces;
    this.#seen = seen;
  }

  /**
   * Rejects with `InvalidToken` unless the sender holds the key that the token is bound to, with `NonceNeeded` if its proof is good
   * except for the nonce, and with `TooManyProofs` if its key has used too many.
   */
  async check({ method, urls, proof, token }: ProvenRequest, verified: VerifiedToken): Promise<void> {
    if (proof.length > MAX_LENGTH || proof.includes(",")) throw invalid("the proof is malformed");
    const { payload, jwk } = await this.#verify(proof);
    const expected = jktOf(verified);
    const got = await calculateJwkThumbprint(jwk);
    if (expected === undefined || got !== expected) throw invalid("the token is bound to another key", expected, got);
    const ath = toBase64Url(this.#platform.sha256(new TextEncoder().encode(token)));
    const { htm, htu, jti, iat } = payload;
    const target = typeof htu === "string" ? withoutQuery(htu) : "";
    const isOwn = htm === method && target !== "" && urls.some((url) => withoutQuery(url) === target);
    if (!isOwn) throw invalid("the proof is for another request", [method, ...urls], [htm, htu]);
    if (payload["ath"] !== ath) throw invalid("the proof is for another token");
    const now = this.#platform.now();
    const madeAt = (typeof iat === "number" ? iat : 0) * 1_000;
    if (Math.abs(now - madeAt) > WINDOW_MS) throw invalid("the proof is too old", String(now / 1_000), iat);
    if (typeof jti !== "string" || jti === "" || jti.length > 256) throw invalid("the proof has no id");
    if (this.#nonces?.accepts(payload["nonce"]) === false) throw new NonceNeeded("the proof lacks the nonce");
    // One second more than the proof is accepted for.
    await this.#seen.use(expected, jti, madeAt + WINDOW_MS - now + 1_000);
  }

  async #verify(proof: string): Promise<{ payload: Record<string, unknown>; jwk: JWK }> {
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: [...PROOF_ALGORITHMS],
        currentDate: new Date(this.#platform.now()),
      });
      const { jwk } = protectedHeader;
      if (jwk === undefined || "d" in jwk) throw invalid("the proof has no public key");
      return { payload, jwk };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw invalid(`the proof is not valid (${error.code})`);
      throw error instanceof TypeError ? invalid("the proof is not valid") : error;
    }
  }
}

function invalid(message: string, expected?: string | readonly string[], got?: unknown): InvalidToken {
  return new InvalidToken(message, { reason: "dpop_invalid", expected, got });
}

/** The thumbprint of the key that a token is bound to. */
export function jktOf({ claims }: Pick<VerifiedToken, "claims">): string | undefined {
  const cnf = claims["cnf"];
  const jkt = typeof cnf === "object" && cnf !== null && "jkt" in cnf ? cnf.jkt : undefined;
  return typeof jkt === "string" ? jkt : undefined;
}

/**
 * Throws for a token that is bound to its holder in a way that cannot be verified here, such as a certificate (RFC 8705): to serve
 * it as a bearer token would undo what its issuer meant.
 */
export function checkBinding({ claims }: VerifiedToken): void {
  const cnf = claims["cnf"] ?? undefined;
  if (cnf === undefined) return;
  const methods = typeof cnf === "object" ? Object.entries(cnf) : [];
  const isKnown = methods.length === 1 && methods[0]?.[0] === "jkt" && typeof methods[0][1] === "string";
  if (isKnown && methods[0]?.[1] !== "") return;
  throw new InvalidToken("the token is bound in a way that cannot be verified", {
    reason: "unsupported_binding",
    expected: "cnf with one text, jkt",
    got: methods.map(([name]) => name),
  });
}

function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
