import { importJWK, SignJWT } from "jose";

export const ISSUER = "https://login.example";
export const RESOURCE = "http://localhost/mcp";

/** A key that protects nothing: the program that is measured and the one that loads it must have the same. */
const PUBLIC = {
  kty: "EC",
  crv: "P-256",
  x: "y5KCv43jbfzRLU5_-Zb-S2b-5cqmpu-gMfD7g01pJTs",
  y: "fJHxfQJf_CwEVhPY_o5yFnCSrkklDSrTETw4rWGg2Jk",
};
const PRIVATE = { ...PUBLIC, d: "S99mWYdPzImjc0oEYP3a6y-eQCeZrIaT5XEakdSTuME" };

export const KEYS = { keys: [{ ...PUBLIC, kid: "bench", alg: "ES256", use: "sig" }] };

/** A token such as providers give out, good for a day. */
export async function benchToken(): Promise<string> {
  return new SignJWT({ client_id: "bench", scope: "read write", jti: "b7a1f0f4-6d2f-4f0f-9c53-0a3f1c1f7f10" })
    .setProtectedHeader({ alg: "ES256", kid: "bench", typ: "at+jwt" })
    .setIssuer(ISSUER)
    .setAudience(RESOURCE)
    .setSubject("3f1c2f9e-6a1c-4a7c-9a55-0f7d2a9c1e77")
    .setIssuedAt()
    .setExpirationTime("1d")
    .sign(await importJWK(PRIVATE, "ES256"));
}
