import { generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import { ProxyUnderAttack, VERIFIER } from "./proxy-under-attack.js";
import { TestIssuer } from "./test-issuer.js";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Provider {
  readonly alg: string;
  readonly listed?: readonly string[] | undefined;
  readonly accepted?: readonly string[] | undefined;
  readonly claims?: JWTPayload;
  readonly reply?: Record<string, unknown>;
  /** Sends a token with this header and no signature. */
  readonly unsigned?: { readonly alg: string };
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A proxy whose provider signs its identity tokens in this way. Returns what a login through it ends with. */
async function loginWith({ alg, listed, accepted, claims, reply, unsigned }: Provider) {
  const { privateKey } = await generateKeyPair(alg);
  let idToken = "";
  const provider = await TestIssuer.start({
    metadata: listed === undefined ? {} : { id_token_signing_alg_values_supported: listed },
    intercept: ({ path }, response) => {
      if (path !== "/token") return false;
      const body = { access_token: "upstream", token_type: "Bearer", expires_in: 600, id_token: idToken, ...reply };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      return true;
    },
  });
  const now = Math.floor(Date.now() / 1_000);
  const all = { iss: provider.issuer, aud: "the-one-app", sub: "ada", iat: now, exp: now + 300, ...claims };
  idToken =
    unsigned === undefined
      ? await new SignJWT(all).setProtectedHeader({ alg }).sign(privateKey)
      : `${encode(unsigned)}.${encode(all)}.`;
  const proxy = await ProxyUnderAttack.start();
  open.push(provider, proxy);
  const node = proxy.addNode({
    identify: undefined,
    upstream: { issuer: provider.issuer, client: { clientId: "the-one-app" }, idTokenAlgorithms: accepted },
  });
  const client = await proxy.register();
  const asked = await proxy.asked(client, {}, node);
  const callback = await proxy.atProvider(await proxy.consent(asked, {}, node));
  const { headers } = await proxy.send("GET", callback, { cookie: asked.cookie }, node);
  const { searchParams } = new URL(headers.get("location") ?? "");
  const code = searchParams.get("code");
  if (code === null) return searchParams.get("error");
  const response = await proxy.token({ code, client_id: client, code_verifier: VERIFIER }, node);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return (await proxy.caller(token, node)).subject;
}

describe("a provider whose identity tokens are signed", () => {
  it.each(["RS256", "PS256", "ES256", "ES384", "EdDSA"])("by %s lets users in", async (alg) => {
    expect(await loginWith({ alg })).toBe("ada");
  });

  it("by an algorithm that its metadata lists lets users in", async () => {
    expect(await loginWith({ alg: "ES384", listed: ["ES384", "none"] })).toBe("ada");
  });

  it("by another one than `idTokenAlgorithms` names does not, whatever the metadata says", async () => {
    expect(await loginWith({ alg: "ES256", listed: ["ES256"], accepted: ["RS256"] })).toBe("access_denied");
    expect(await loginWith({ alg: "ES256", listed: ["RS256"], accepted: ["ES256"] })).toBe("ada");
  });

  it.each<[what: string, claims: JWTPayload]>([
    ["for another client", { aud: "other" }],
    ["of another issuer", { iss: "https://evil.example" }],
    ["that has ended", { exp: 1 }],
  ])("by ES256 does not, with a token %s", async (_what, claims) => {
    expect(await loginWith({ alg: "ES256", claims })).toBe("access_denied");
  });

  it("by ES256 lets users in, also with null and empty members beside it", async () => {
    const reply = { refresh_token: "", scope: null, expires_in: null };
    expect(await loginWith({ alg: "ES256", reply })).toBe("ada");
  });

  it.each([
    [{ alg: "none" }, {}],
    [{ alg: "none" }, { listed: ["none"] }],
    [{ alg: "none" }, { accepted: ["none"] }],
    [{ alg: "HS256" }, {}],
  ])("by nothing, or by a shared secret, does not: %j, with %j", async (unsigned, named) => {
    expect(await loginWith({ alg: "ES256", ...named, unsigned })).toBe("access_denied");
  });
});
