import { McpError } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { HOSTILE_DOCUMENTS } from "./client-attacks/hostile-documents.js";
import { NO_ISSUERS, OTHER_ISSUERS } from "./client-attacks/hostile-issuers.js";
import { attempt, ClientTarget, expectNothingElsewhere, expectRefusal, open } from "./client-target.js";

describe("a document about a server that no client may use", () => {
  it.each(HOSTILE_DOCUMENTS)("SEC-04: $name, as metadata of the authorization server", async ({ answer, step }) => {
    const target = await ClientTarget.start(
      {},
      {
        intercept: ({ path }, response) => {
          if (!path.startsWith("/.well-known/")) return false;
          answer(response, path, target.issuer.origin);
          return true;
        },
      },
    );
    const result = await attempt(target);
    expectRefusal(result, "publishes no metadata");
    expect(result.error).toMatchObject({ data: { reason: "no_server_metadata" } });
    expectRefusal(result, step);
    expect(result.visits).toEqual([]);
    expect(target.issuer.requests.every(({ path }) => path.startsWith("/.well-known/"))).toBe(true);
    // Two places, and at most three redirects from each.
    expect(target.issuer.requests.length).toBeLessThanOrEqual(8);
    expectNothingElsewhere(target, result);
  });

  it.each(HOSTILE_DOCUMENTS)("SEC-04: $name, as metadata of the resource", async ({ answer, step }) => {
    const target = await ClientTarget.start({
      intercept: ({ url = "", method }, response) => {
        if (method !== "GET" || !url.startsWith("/.well-known/oauth-protected-resource")) return false;
        answer(response, url, target.origin);
        return true;
      },
      challenge: (request) =>
        `Bearer resource_metadata="http://${request.headers.host}/.well-known/oauth-protected-resource/x"`,
    });
    // Without metadata of the resource, its own origin is the authorization server, which this one is not.
    const result = await attempt(target);
    expect(McpError.is(result.error)).toBe(true);
    if (McpError.is(result.error) && result.error.kind === "authorization_failed") expectRefusal(result, step);
    expect(target.issuer.requests).toEqual([]);
    expectNothingElsewhere(target, result);
  });

  it("SEC-04: a document that comes too slowly", async () => {
    const target = await ClientTarget.start(
      {},
      {
        intercept: ({ path }, response) => {
          if (!path.startsWith("/.well-known/oauth-auth")) return false;
          response.writeHead(200, { "content-type": "application/json" });
          const drip = setInterval(() => response.write(" "), 100);
          response.on("close", () => clearInterval(drip));
          return true;
        },
      },
    );
    const began = performance.now();
    // The second place answers.
    expect((await attempt(target)).error).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThan(4_900);
  });

  it.each([...OTHER_ISSUERS, ...NO_ISSUERS])("AUTHC-10: an issuer in the metadata with $name", async ({ of }) => {
    const target = await ClientTarget.start();
    target.issuer.behaviour.metadata = { issuer: of(target.issuer.issuer) };
    const result = await attempt(target);
    expectRefusal(result, "names another issuer");
    expect(result.error).toMatchObject({ data: { reason: "wrong_issuer" } });
    expect(result.visits).toEqual([]);
    expect(target.issuer.requests).toHaveLength(1);
  });

  it.each([
    ["another origin", "https://evil.example/mcp"],
    ["another port", "http://127.0.0.1:1/mcp"],
    ["another path", "/other"],
    ["a path that only begins alike", "/mc"],
    ["a deeper path", "/mcp/deeper"],
    ["a fragment", "/mcp#x"],
    ["a user", "http://user@127.0.0.1/mcp"],
    ["a query", "/mcp?a=b"],
    ["no URL", "mcp"],
    ["an empty text", ""],
    ["null", null],
    ["a number", 1],
    ["a list", ["/mcp"]],
  ])("AUTHC-07: a resource in the metadata with %s", async (_name, resource) => {
    const target = await ClientTarget.start();
    const value = typeof resource === "string" && resource.startsWith("/") ? `${target.origin}${resource}` : resource;
    target.behaviour.metadata = { resource: value };
    const result = await attempt(target);
    expectRefusal(result, "is for another resource");
    expect(result.error).toMatchObject({ data: { reason: "wrong_resource" } });
    expect(target.issuer.requests).toEqual([]);
  });

  it.each([
    ["missing", undefined],
    ["null", null],
    ["empty", []],
    ["without S256", ["plain"]],
    ["a text", "S256"],
    ["in small letters", ["s256"]],
    ["nested", [["S256"]]],
  ])("P8, AUTHC-14: code_challenge_methods_supported that is %s", async (_name, methods) => {
    const target = await ClientTarget.start({}, { metadata: { code_challenge_methods_supported: methods } });
    const result = await attempt(target);
    expectRefusal(result, "does not support PKCE with S256");
    expect(result.visits).toEqual([]);
    expect(target.issuer.to("/register")).toEqual([]);
  });

  it.each([
    ["missing", undefined],
    ["null", null],
    ["empty", []],
    ["a text", "https://a.example"],
    ["full of numbers", [1, null, {}]],
  ])("AUTHC-08: authorization_servers that are %s", async (_name, servers) => {
    const target = await ClientTarget.start({ metadata: { authorization_servers: servers } });
    const result = await attempt(target);
    expectRefusal(result, "names no authorization server");
    expect(result.error).toMatchObject({ data: { reason: "no_authorization_server" } });
    expect(target.issuer.requests).toEqual([]);
  });

  it("AUTHC-08: an authorization server that was not in the list is not chosen", async () => {
    const target = await ClientTarget.start();
    const result = await attempt(target, { oauth: { chooseServer: () => "https://evil.example" } });
    expectRefusal(result, "`chooseServer` chose none of the authorization servers of");
    expectNothingElsewhere(target, result);
  });

  it.each<[string, (target: ClientTarget) => string]>([
    ["has no metadata", ({ origin }) => `${origin}/nothing-here`],
    ["must not be contacted", () => "http://169.254.169.254"],
    ["names another issuer", ({ issuer }) => `${issuer.origin}/other`],
    ["is no address", () => "the first one"],
  ])("AUTHC-08: an authorization server that %s is followed by the next of the list", async (_name, first) => {
    const target = await ClientTarget.start();
    target.behaviour.intercept = ({ url = "" }, response) => {
      if (!url.includes("nothing-here")) return false;
      response.writeHead(404).end();
      return true;
    };
    target.behaviour.metadata = { authorization_servers: [first(target), target.issuer.issuer] };
    const result = await attempt(target);
    expect(result.error).toBeUndefined();
    expect(result.visits).toHaveLength(1);
    expectNothingElsewhere(target, result);
  });

  it("AUTHC-08: of a list without a usable authorization server, five are tried and all of them are reported", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `http://169.254.169.${index}`);
    const target = await ClientTarget.start({ metadata: { authorization_servers: names } });
    const result = await attempt(target);
    expectRefusal(result, "none of the 5 authorization servers");
    for (const name of names.slice(0, 5)) expectRefusal(result, `${name}: `);
    expectNothingElsewhere(target, result);
  });

  it("AUTHC-08: the issuer of the token is kept when another one is listed before it", async () => {
    const [target, other] = [await ClientTarget.start({}, { rotates: true, expiresIn: 5 }), await ClientTarget.start()];
    const { client, visits } = await open(target);
    target.behaviour.metadata = { authorization_servers: [other.issuer.issuer, target.issuer.issuer] };
    expect(await client.call("who")).toBe("ada");
    expect(target.issuer.to("/token").map(({ form }) => form.get("grant_type"))).toContain("refresh_token");
    expect(visits).toHaveLength(1);
    expect(other.issuer.requests).toEqual([]);
  });
});
