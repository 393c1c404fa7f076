import { browserLogin } from "@parley/mcp/login";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { attempt, ClientTarget, expectRefusal } from "./client-target.js";
import type { IssuerBehaviour } from "./test-issuer.js";

const SECRET = "canary-secret-of-the-client";

/** A server whose issuer takes pushed authorization requests, as `metadata` changes it. */
async function withPushes(metadata: Record<string, unknown> = {}, issued: IssuerBehaviour = {}) {
  const target = await ClientTarget.start({}, issued);
  const endpoint = `${target.issuer.origin}/par`;
  target.issuer.behaviour.metadata = { pushed_authorization_request_endpoint: endpoint, ...metadata };
  return target;
}

/** An answer of the endpoint for pushed requests. */
const answering =
  (status: number, body: string, type = "application/json"): NonNullable<IssuerBehaviour["intercept"]> =>
  ({ path }, response) => {
    if (path !== "/par") return false;
    response.writeHead(status, { "content-type": type }).end(body);
    return true;
  };

describe("RFC 9126: a pushed authorization request", () => {
  it("carries all parameters, and the page gets a reference to them", async () => {
    const target = await withPushes();
    const { error, visits } = await attempt(target, { oauth: { scopes: ["a"] } });
    expect(error).toBeUndefined();
    const [sent] = target.issuer.to("/par");
    expect(Object.fromEntries(sent?.form ?? [])).toMatchObject({
      response_type: "code",
      redirect_uri: "http://127.0.0.1:1/callback",
      code_challenge_method: "S256",
      resource: target.url,
      scope: "a",
      state: expect.any(String),
      client_id: expect.any(String),
    });
    const page = new URL(visits[0] ?? "");
    expect([...page.searchParams.keys()]).toEqual(["client_id", "request_uri"]);
  });

  it("proves who the client is, and which key its token will have", async () => {
    const target = await withPushes();
    const client = { clientId: "app", clientSecret: SECRET, authMethod: "client_secret_basic" as const };
    expect((await attempt(target, { oauth: { client, dpop: true } })).error).toBeUndefined();
    const [sent] = target.issuer.to("/par");
    expect(sent?.headers.authorization).toBe(`Basic ${Buffer.from(`app:${SECRET}`).toString("base64")}`);
    expect(decodeJwt(String(sent?.headers["dpop"]))).toMatchObject({ htm: "POST", htu: `${target.issuer.origin}/par` });
  });

  it("ends in the listener of a browser login, though the page's address has no state", async () => {
    const target = await withPushes({ require_pushed_authorization_requests: true });
    const pages: URL[] = [];
    const login = browserLogin({
      async open(url) {
        pages.push(new URL(url));
        await fetch(url);
      },
    });
    expect((await attempt(target, { oauth: { login } })).error).toBeUndefined();
    expect(pages[0]?.searchParams.has("state")).toBe(false);
  });

  it.each([
    ["200 in place of 201", 200, {}],
    ["no lifetime", 201, { expires_in: undefined }],
  ])("is accepted with %s", async (_name, status, changes) => {
    const target = await withPushes();
    const reference = "urn:example:reference";
    target.issuer.behaviour.intercept = answering(
      status,
      JSON.stringify({ request_uri: reference, expires_in: 9, ...changes }),
    );
    const { visits } = await attempt(target);
    expect(new URL(visits[0] ?? "").searchParams.get("request_uri")).toBe(reference);
  });

  it.each<[string, NonNullable<IssuerBehaviour["intercept"]>]>([
    ["a failure", answering(503, "{}")],
    ["a page", answering(200, "<html>", "text/html")],
    [
      "a broken connection",
      ({ path }, response) => {
        if (path === "/par") response.destroy();
        return path === "/par";
      },
    ],
  ])("that ends in %s is replaced by a plain one, unless it is required", async (_name, intercept) => {
    const optional = await withPushes({}, { intercept });
    const result = await attempt(optional);
    expect(result.error).toBeUndefined();
    expect(new URL(result.visits[0] ?? "").searchParams.has("code_challenge")).toBe(true);
    const required = await withPushes({ require_pushed_authorization_requests: true }, { intercept });
    const refused = await attempt(required);
    expectRefusal(refused, "refused the pushed authorization request");
    expect(refused.visits).toEqual([]);
  });

  it("that is refused ends the login, and the error repeats no secret", async () => {
    const description = `bad client app:${SECRET}, ${Buffer.from(`app:${SECRET}`).toString("base64")}`;
    const body = JSON.stringify({ error: "invalid_request", error_description: description });
    const target = await withPushes({}, { intercept: answering(400, body) });
    const client = { clientId: "app", clientSecret: SECRET };
    const result = await attempt(target, { oauth: { client } });
    expectRefusal(result, "invalid_request: bad client app:…, …");
    expect(result.visits).toEqual([]);
  });

  it("that is required ends the login where its endpoint must not be contacted", async () => {
    const target = await withPushes({
      require_pushed_authorization_requests: true,
      pushed_authorization_request_endpoint: "http://169.254.169.254/par",
    });
    const result = await attempt(target);
    expectRefusal(result, "requires pushed authorization requests but has no usable endpoint for them");
    expect(result.visits).toEqual([]);
  });
});
