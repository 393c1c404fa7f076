import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Asked, CANARY, CHALLENGE, ORIGIN, ProxyUnderAttack, type Sent } from "./proxy-under-attack.js";

const LOOPBACK = "http://127.0.0.1:1/callback";
const WEB = "https://app.example/callback";

let proxy: ProxyUnderAttack;
let [client, web] = ["", ""];
beforeAll(async () => {
  proxy = await ProxyUnderAttack.start();
  client = await proxy.register();
  web = await proxy.register(WEB, "web");
});
afterAll(() => proxy.close());

const errorOf = (response: Response) => new URL(response.headers.get("location") ?? "").searchParams.get("error");

describe("a request for access that leads nowhere: a page, and no redirect", () => {
  const other = "1.AAAAAAAA.AAAA";
  it.each<[what: string, params: () => Record<string, string | undefined>, extra?: string]>([
    ["an unknown client", () => ({ client_id: other })],
    ["no client", () => ({})],
    ["a changed client", () => ({ client_id: `${client.slice(0, -2)}AA` })],
    ["an unregistered address", () => ({ client_id: client, redirect_uri: "https://evil.example/callback" })],
    ["no address", () => ({ client_id: client, redirect_uri: undefined })],
    ["another path", () => ({ client_id: web, redirect_uri: "https://app.example/other" })],
    ["a longer path", () => ({ client_id: web, redirect_uri: `${WEB}/more` })],
    ["a query", () => ({ client_id: web, redirect_uri: `${WEB}?next=https://evil.example` })],
    ["a host below it", () => ({ client_id: web, redirect_uri: "https://a.app.example/callback" })],
    [
      "a host that begins with it",
      () => ({ client_id: web, redirect_uri: "https://app.example.evil.example/callback" }),
    ],
    ["another scheme", () => ({ client_id: web, redirect_uri: "http://app.example/callback" })],
    ["another port beyond loopback", () => ({ client_id: web, redirect_uri: "https://app.example:8443/callback" })],
    ["a user name", () => ({ client_id: web, redirect_uri: "https://app.example@evil.example/callback" })],
    ["a fragment", () => ({ client_id: web, redirect_uri: `${WEB}#x` })],
    ["a script", () => ({ client_id: client, redirect_uri: "javascript:alert(1)//127.0.0.1/callback" })],
    ["loopback with another path", () => ({ client_id: client, redirect_uri: "http://127.0.0.1:1/other" })],
    ["loopback by another name", () => ({ client_id: client, redirect_uri: "http://localhost:1/callback" })],
    [
      "loopback with a user name",
      () => ({ client_id: client, redirect_uri: "http://127.0.0.1:1@evil.example/callback" }),
    ],
    ["two addresses", () => ({ client_id: client }), `&redirect_uri=${encodeURIComponent("https://evil.example/")}`],
    ["two scopes", () => ({ client_id: client }), "&scope=write"],
    // Anybody can register an address, and would have an open redirector.
    ["a mistake of a client in the web", () => ({ client_id: web, redirect_uri: WEB, scope: "admin" })],
  ])("%s", async (_what, params, extra) => {
    const response = await proxy.authorize(params(), extra);
    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(response.headers.get("content-type")).toContain("text/html");
  });

  it("only the port of a loopback address is free (RFC 8252, 7.3)", async () => {
    expect((await proxy.authorize({ client_id: client, redirect_uri: "http://127.0.0.1:5/callback" })).status).toBe(
      200,
    );
  });
});

describe("a request for access that a client on the user's machine got wrong", () => {
  it.each<[what: string, params: Record<string, string | undefined>, error: string]>([
    ["no PKCE", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["PKCE without a method, which means plain", { code_challenge_method: undefined }, "invalid_request"],
    ["a short challenge", { code_challenge: CHALLENGE.slice(1) }, "invalid_request"],
    ["the implicit flow", { response_type: "token" }, "invalid_request"],
    ["an unknown scope", { scope: "read admin" }, "invalid_scope"],
    ["another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["a huge state", { state: "x".repeat(3_000) }, "invalid_request"],
  ])("%s", async (_what, params, error) => {
    const response = await proxy.authorize({ client_id: client, ...params });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toMatch(/^http:\/\/127\.0\.0\.1:1\/callback\?/);
    expect(errorOf(response)).toBe(error);
  });
});

describe("the page that asks for consent", () => {
  it("cannot be framed, cached, or made to load or run anything", async () => {
    const { headers } = await proxy.authorize({ client_id: client });
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get("cache-control")).toBe("no-store");
    // Browsers send `Origin: null` with the form of a page without a referrer, and hold its redirects to `form-action`.
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("content-security-policy")).not.toContain("form-action");
    expect(headers.get("set-cookie")).toMatch(
      /^__Host-parley-login-[\w-]{8}=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax; .*Secure/,
    );
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  it.each([
    ["markup", "<img src=x onerror=alert(1)>\"'&"],
    ["a second form", '</p><form action="https://evil.example"><button>Allow</button></form>'],
    ["text that turns its direction", "good\u202eevil\u0000\u200b"],
    ["a very long name", "x".repeat(10_000)],
  ])("shows a hostile name as text: %s", async (_what, name) => {
    const id = await proxy.register(LOOPBACK, name);
    const page = await (await proxy.authorize({ client_id: id })).text();
    expect(page.match(/<form/g)).toHaveLength(1);
    for (const hostile of ["<img", "\u202e", "\u0000", "\u200b", "x".repeat(101)]) expect(page).not.toContain(hostile);
    expect(page).toContain("127.0.0.1:1");
  });
});

describe("SEC-07, SEC-08: consent that the user did not give", () => {
  it.each<[what: string, sent: (asked: Asked) => Promise<Sent> | Sent, status?: number]>([
    ["without the cookie", () => ({ cookie: undefined })],
    ["with the cookie of another browser", async () => ({ cookie: (await proxy.asked(client)).cookie })],
    ["with a second cookie of the name", ({ cookie }) => ({ cookie: `${cookie}; ${cookie.split("=", 1)[0]}=x` })],
    ["with a forged request", ({ request }) => ({ form: { request: `${request.slice(0, -2)}AA`, answer: "allow" } })],
    ["without a request", () => ({ form: { answer: "allow" } })],
    ["with something else that was sealed", () => ({ form: { request: client, answer: "allow" } })],
    [
      "for the second client, by the cookie of the first",
      async () => ({ form: { request: (await proxy.asked(web, { redirect_uri: WEB })).request, answer: "allow" } }),
    ],
    ["from another origin", () => ({ origin: "https://evil.example" })],
    ["from a sandboxed frame", () => ({ origin: "null" })],
    ["from another port of the host", () => ({ origin: `${ORIGIN}:8443` })],
  ])("%s", async (_what, sent) => {
    const asked = await proxy.asked(client);
    const response = await proxy.consent(asked, await sent(asked));
    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
  });

  it("by GET", async () => {
    const { cookie, request } = await proxy.asked(client);
    const path = `/oauth/consent?${new URLSearchParams({ request, answer: "allow" })}`;
    expect((await proxy.send("GET", path, { cookie, origin: ORIGIN })).status).toBe(405);
  });

  it("a second time", async () => {
    const asked = await proxy.asked(client);
    expect((await proxy.consent(asked)).status).toBe(303);
    expect((await proxy.consent(asked)).status).toBe(400);
  });

  it("too late", async () => {
    const asked = await proxy.asked(client);
    proxy.clock += 600_001;
    expect((await proxy.consent(asked)).status).toBe(400);
  });

  it.each([["deny"], [""], ["ALLOW"]])("the answer %j is no", async (answer) => {
    const asked = await proxy.asked(client);
    const response = await proxy.consent(asked, { form: { request: asked.request, answer } });
    expect(errorOf(response)).toBe("access_denied");
    expect(response.headers.get("location")).not.toContain("code=");
  });

  it("the login of one client gives the next one nothing: it is asked for again", async () => {
    await proxy.login(client);
    const response = await proxy.authorize({ client_id: web, redirect_uri: WEB });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("app.example");
  });
});

describe("AUTHC-15, AUTHC-19: an answer of the provider that is not for this login", () => {
  const begun = async () => {
    const asked = await proxy.asked(client);
    return { cookie: asked.cookie, callback: await proxy.atProvider(await proxy.consent(asked)) };
  };

  it.each<[what: string, callback: (path: string) => string, cookie?: string]>([
    ["in another browser", (path) => path, "__Host-parley-login=other"],
    ["in a browser without the cookie", (path) => path, ""],
    ["with a changed state", (path) => path.replace(/state=[^&]{9}/, "state=1.AAAAAAA")],
    ["without a state", (path) => path.replace(/&state=[^&]*/, "")],
    ["with two codes", (path) => `${path}&code=other`],
    ["with two states", (path) => `${path}&state=other`],
  ])("%s", async (_what, change, other) => {
    const { cookie, callback } = await begun();
    const response = await proxy.send("GET", change(callback), { cookie: other ?? cookie });
    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
  });

  it.each<[what: string, callback: (path: string) => string]>([
    ["of another issuer", (path) => path.replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.example")],
    ["without an issuer, where the provider promised one", (path) => path.replace(/&iss=[^&]*/, "")],
    ["that is an error", (path) => path.replace(/code=[^&]*/, `error=access_denied&error_description=${CANARY}-said`)],
    ["without a code", (path) => path.replace(/code=[^&]*&/, "")],
  ])("%s", async (_what, change) => {
    const { cookie, callback } = await begun();
    const response = await proxy.send("GET", change(callback), { cookie });
    expect(errorOf(response)).toBe("access_denied");
    expect(response.headers.get("location")).not.toMatch(/[?&]code=/);
  });

  it("a second time", async () => {
    const { cookie, callback } = await begun();
    expect((await proxy.send("GET", callback, { cookie })).status).toBe(303);
    expect((await proxy.send("GET", callback, { cookie })).status).toBe(400);
  });
});

it("SEC-15, AUTHS-10: no token, secret or word of the provider is in any answer, header or line of the log", () => {
  expect(proxy.out.length).toBeGreaterThan(100);
  expect(proxy.out.filter((text) => text.includes(CANARY))).toEqual([]);
});
