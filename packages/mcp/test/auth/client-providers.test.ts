import { describe, expect, it } from "vitest";
import { PROVIDERS, type Provider } from "./client-attacks/provider-metadata.js";
import { attempt, ClientTarget, expectRefusal } from "./client-target.js";

/** A server whose issuer publishes what a provider publishes, at its place alone. */
async function serverOf({ path, at, document }: Provider, changes: object = {}): Promise<ClientTarget> {
  const target = await ClientTarget.start(
    {},
    {
      path,
      intercept(request, response) {
        if (!request.path.includes("/.well-known/")) return false;
        const text = JSON.stringify({ ...document, ...changes }).replaceAll("ORIGIN", target.issuer.origin);
        response.writeHead(request.path === at ? 200 : 404, { "content-type": "application/json" });
        response.end(request.path === at ? text : "{}");
        return true;
      },
    },
  );
  return target;
}

describe.each(PROVIDERS)("$name", (provider) => {
  const client = { clientId: "mine", clientSecret: "secret-of-mine" };

  it("AUTHC-09, AUTHC-10, AUTHC-14: a configured client logs in, or is told why not", async () => {
    const target = await serverOf(provider);
    const result = await attempt(target, { oauth: { client } });
    if (provider.refusal === undefined) expect(result.error).toBeUndefined();
    else {
      expectRefusal(result, provider.refusal);
      expect(result.visits).toEqual([]);
    }
    const places = target.issuer.requests.filter(({ path }) => path.includes("/.well-known/")).map(({ path }) => path);
    expect(places.at(-1)).toBe(provider.at);
    expect(new Set(places).size).toBe(places.length);
  });

  it("AUTHC-28: a client that nobody configured registers itself, or is told what to do", async () => {
    const target = await serverOf(provider, { code_challenge_methods_supported: ["S256"] });
    const result = await attempt(target);
    if (provider.registers) expect(result.error).toBeUndefined();
    else expectRefusal(result, "no client is available for");
  });

  it("null in place of every optional member is as good as none", async () => {
    const optional = Object.keys(provider.document).filter(
      (name) => !["issuer", "authorization_endpoint", "token_endpoint"].includes(name),
    );
    const nulls = Object.fromEntries(optional.map((name) => [name, null]));
    const target = await serverOf(provider, { ...nulls, code_challenge_methods_supported: ["S256"] });
    expect((await attempt(target, { oauth: { client } })).error).toBeUndefined();
  });
});
