import { lookup } from "node:dns/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { hostname } from "node:os";
import { oauthProxy } from "@parley/mcp/auth";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addressClass } from "../../src/auth/url/url-policy.js";
import { ProxyUnderAttack, SECRET } from "./proxy-under-attack.js";

const DOCUMENT = "https://app.example/client.json";
const CALLBACK = "https://app.example/callback";

let proxy: ProxyUnderAttack;
/** The node that reads documents of app.example, which is a server on this machine. */
let node = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {};
let requests = 0;
const web = createServer((request, response) => {
  requests++;
  answer(request, response);
});

const metadata = (changes: Record<string, unknown> = {}) => ({
  client_id: DOCUMENT,
  client_name: "The App",
  redirect_uris: [CALLBACK, "http://127.0.0.1/callback"],
  ...changes,
});
const json = (body: unknown, headers: Record<string, string> = {}) => {
  answer = (_request, response) =>
    response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an address object.
  const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  proxy = await ProxyUnderAttack.start();
  const fetch = (url: string, init?: RequestInit) =>
    globalThis.fetch(url.replace(/^https:\/\/[\w.]+\.example/, origin), init);
  node = proxy.addNode({ platform: { now: () => proxy.clock, fetch, warn: (text) => proxy.out.push(text) } });
});
beforeEach(() => {
  // Nothing is remembered from one test to the next.
  proxy.clock += 50 * 3_600_000;
  requests = 0;
  json(metadata());
});
afterAll(async () => {
  web.close();
  web.closeAllConnections();
  await proxy.close();
});

const authorize = (params: Record<string, string> = {}, at = node) =>
  proxy.authorize({ client_id: DOCUMENT, redirect_uri: CALLBACK, ...params }, "", at);

describe("AUTHC-29: a client whose id is the address of its metadata document", () => {
  it("is announced, and logs in without a registration", async () => {
    const served = await proxy.send("GET", "/.well-known/oauth-authorization-server", {}, node);
    expect(await served.json()).toMatchObject({
      client_id_metadata_document_supported: true,
      registration_endpoint: "https://shop.example/oauth/register",
    });
    const page = await (await authorize()).text();
    for (const shown of ["The App", "app.example", DOCUMENT]) expect(page).toContain(shown);
    const tokens = await proxy.login(DOCUMENT, { redirect_uri: CALLBACK }, node);
    expect(await proxy.status(tokens.access_token, node)).toBe(200);
    expect((await proxy.caller(tokens.access_token, node)).clientId).toBe(DOCUMENT);
    expect((await proxy.refresh(DOCUMENT, tokens.refresh_token, node)).status).toBe(200);
    expect((await proxy.refresh("https://evil.example/client.json", tokens.refresh_token, node)).status).toBe(400);
  });

  it("is sent back only to the addresses of the document, and to other ports of a loopback one", async () => {
    expect((await authorize({ redirect_uri: "http://127.0.0.1:5/callback" })).status).toBe(200);
    for (const uri of [
      `${CALLBACK}/more`,
      `${CALLBACK}?x=1`,
      "https://evil.example/callback",
      "http://localhost/callback",
    ])
      expect((await authorize({ redirect_uri: uri })).status).toBe(400);
  });

  it.each<[what: string, document: unknown]>([
    ["another id", metadata({ client_id: "https://app.example/other.json" })],
    ["no id", metadata({ client_id: undefined })],
    ["no addresses", metadata({ redirect_uris: undefined })],
    ["an empty list", metadata({ redirect_uris: [] })],
    ["addresses that are no texts", metadata({ redirect_uris: [CALLBACK, 1] })],
    ["too many addresses", metadata({ redirect_uris: Array.from({ length: 51 }, (_, n) => `${CALLBACK}${n}`) })],
    ["a secret", metadata({ client_secret: "s3cret" })],
    ["a way to authenticate that is not served here", metadata({ token_endpoint_auth_method: "private_key_jwt" })],
    ["more than 16 KiB", metadata({ more: "x".repeat(16_384) })],
    ["a list", [metadata()]],
    ["null", null],
  ])("with a document with %s is refused, and asked for again", async (_what, document) => {
    json(document);
    expect((await authorize()).status).toBe(400);
    json(metadata());
    expect((await authorize()).status).toBe(200);
    expect(requests).toBe(2);
  });

  it.each<[what: string, reply: typeof answer]>([
    ["a redirect", (_request, response) => response.writeHead(302, { location: "/other.json" }).end()],
    ["no document", (_request, response) => response.writeHead(404).end(JSON.stringify(metadata()))],
    ["a page", (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("{}")],
    ["no JSON", (_request, response) => response.writeHead(200, { "content-type": "application/json" }).end("{")],
    ["nothing", (request) => request.socket.destroy()],
  ])("whose address gives %s is refused", async (_what, reply) => {
    answer = reply;
    const response = await authorize();
    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
    expect(requests).toBe(1);
  });

  it.each([
    ["no path", "https://app.example/"],
    ["no path at all", "https://app.example"],
    ["dot segments", "https://app.example/a/../client.json"],
    ["a fragment", `${DOCUMENT}#x`],
    ["a user name", "https://a@app.example/client.json"],
    ["a long path", `https://app.example/${"x".repeat(600)}`],
    ["capital letters in its host", "https://App.example/client.json"],
    ["a loopback address", "https://127.0.0.1/client.json"],
    ["a loopback name", "https://localhost/client.json"],
    ["a private address", "https://10.0.0.1/client.json"],
    ["the metadata address of a cloud", "https://169.254.169.254/latest/meta-data"],
    ["an IPv6 address of this machine", "https://[::1]/client.json"],
    ["http", "http://app.example/client.json"],
  ])("with %s is refused without a request", async (_what, id) => {
    json(metadata({ client_id: id }));
    expect((await authorize({ client_id: id })).status).toBe(400);
    expect(requests).toBe(0);
  });

  it("is read once for all who ask at once, and again when its time is over", async () => {
    json(metadata(), { "cache-control": "max-age=120" });
    await Promise.all(Array.from({ length: 20 }, () => authorize()));
    proxy.clock += 119_000;
    await authorize();
    expect(requests).toBe(1);
    proxy.clock += 2_000;
    await authorize();
    expect(requests).toBe(2);
  });

  it.each([
    ["no-store", 61_000],
    ["max-age=0", 61_000],
    ["max-age=99999999", 24 * 3_600_000 + 1],
  ])("is remembered for a minute at least and a day at most: %s", async (control, ms) => {
    json(metadata(), { "cache-control": control });
    await authorize();
    await authorize();
    expect(requests).toBe(1);
    proxy.clock += ms;
    await authorize();
    expect(requests).toBe(2);
  });

  it.each<[what: string, count: number, id: (at: number) => string]>([
    ["64 others are", 64, (at) => `https://h${at}.example/client.json`],
    ["four others of its host are", 4, (at) => `https://app.example/${at}.json`],
  ])("is not read while %s: the user reads that they can try again", async (_what, count, id) => {
    const held: ServerResponse[] = [];
    const full = new Promise<void>((resolve) => {
      answer = (_request, response) => {
        if (held.push(response) === count) resolve();
      };
    });
    const waiting = Array.from({ length: count }, (_, at) => authorize({ client_id: id(at) }));
    await full;
    const late = { client_id: "https://app.example/late.json" };
    const refused = await authorize(late);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    for (const response of held) response.writeHead(404).end();
    await Promise.all(waiting);
    json(metadata(late));
    expect((await authorize(late)).status).toBe(200);
  });

  it("is read while 64 others are if a user has logged in by it before", async () => {
    await proxy.login(DOCUMENT, { redirect_uri: CALLBACK }, node);
    proxy.clock += 50 * 3_600_000;
    const held: ServerResponse[] = [];
    const full = new Promise<void>((resolve) => {
      answer = (_request, response) => {
        if (held.push(response) === 64) resolve();
      };
    });
    const waiting = Array.from({ length: 64 }, (_, at) =>
      authorize({ client_id: `https://h${at}.example/client.json` }),
    );
    await full;
    json(metadata());
    expect((await authorize()).status).toBe(200);
    for (const response of held) response.writeHead(404).end();
    await Promise.all(waiting);
  });

  it.each([429, 500, 503])("that was read before is used for another day if its server answers %d", async (status) => {
    await authorize();
    answer = (_request, response) => response.writeHead(status).end();
    proxy.clock += 24 * 3_600_000;
    expect((await authorize()).status).toBe(200);
    proxy.clock += 1_000;
    expect((await authorize()).status).toBe(200);
    proxy.clock += 600_000;
    expect((await authorize()).status).toBe(400);
    expect(requests).toBe(4);
  });

  it("that was read before is used for another day if its server is away, and not if the document is gone", async () => {
    await authorize();
    proxy.clock += 34 * 3_600_000;
    answer = (request) => request.socket.destroy();
    expect((await authorize()).status).toBe(400);
    json(metadata());
    await authorize();
    answer = (request) => request.socket.destroy();
    proxy.clock += 24 * 3_600_000;
    expect((await authorize()).status).toBe(200);
    answer = (_request, response) => response.writeHead(404).end();
    expect((await authorize()).status).toBe(400);
    answer = (request) => request.socket.destroy();
    expect((await authorize()).status).toBe(400);
  });

  it("is refused where the operator wants none, or not this one", async () => {
    const none = proxy.addNode({ clientDocuments: false });
    expect((await authorize({}, none)).status).toBe(400);
    const served = await proxy.send("GET", "/.well-known/oauth-authorization-server", {}, none);
    expect(await served.json()).not.toHaveProperty("client_id_metadata_document_supported");
    const some = proxy.addNode({ clientDocuments: (id) => id.startsWith("https://trusted.example/") });
    expect((await authorize({}, some)).status).toBe(400);
    // A promise, which the type forbids, is no yes.
    const late = proxy.addNode({
      clientDocuments: (async () => Promise.reject(new Error("late"))) as unknown as () => boolean,
    });
    expect((await authorize({}, late)).status).toBe(400);
    expect(requests).toBe(0);
  });

  it("whose name resolves to this machine is not contacted", async ({ skip }) => {
    const own = await lookup(hostname()).catch(() => undefined);
    skip(
      own === undefined || addressClass(own.address) === "public",
      "the name of this machine has no private address",
    );
    let connections = 0;
    const tcp = createTcpServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => tcp.listen(0, resolve));
    try {
      // The name of this machine is a name like any other, and resolves to an address of its own.
      const id = `https://${hostname().toLowerCase()}:${(tcp.address() as AddressInfo).port}/client.json`;
      expect((await authorize({ client_id: id }, 0)).status).toBe(400);
      expect(connections).toBe(0);
    } finally {
      tcp.close();
    }
  });
});

describe("the address that users are sent back to", () => {
  const register = async (uri: string, at: number) =>
    (await proxy.send("POST", "/oauth/register", { json: { redirect_uris: [uri] } }, at)).status;

  it.each([
    "https:evil.example/callback",
    "https:/evil.example/callback",
    "https:\\\\evil.example/callback",
    "http://127.1/callback",
    "http://0x7f000001/callback",
    "http://2130706433/callback",
    "http://127.0.0.1/a/../callback",
    "http://127.0.0.1/a/%2e%2e/callback",
    "https://app.example/./callback",
    "https://app%2eexample/callback",
  ])("%s is refused: a browser reads it in another way", async (uri) => {
    expect(await register(uri, 0)).toBe(400);
  });

  it.each([
    "https://app.example",
    "https://App.example/callback",
    "https://app.example:443/cb",
    "http://[::1]:1/cb?x=/../y",
  ])("%s is accepted", async (uri) => {
    expect(await register(uri, 0)).toBe(201);
  });

  it("of a loopback client may differ in its port, and in no spelling of the rest", async () => {
    const client = await proxy.register();
    const status = async (uri: string) => (await proxy.authorize({ client_id: client, redirect_uri: uri })).status;
    expect(await status("http://127.0.0.1:7/callback")).toBe(200);
    for (const uri of ["http://127.1:7/callback", "http://127.0.0.1:7/x/../callback", "http://127.0.0.1:7/./callback"])
      expect(await status(uri)).toBe(400);
  });

  it("is asked for again at every login: a rule that is newer than the registration counts", async () => {
    const strict = proxy.addNode({ allowRedirect: (uri) => uri === "http://127.0.0.1:1/callback" });
    const [web, local] = [await proxy.register(CALLBACK), await proxy.register()];
    const status = async (client: string, uri: string) =>
      (await proxy.authorize({ client_id: client, redirect_uri: uri }, "", strict)).status;
    expect(await status(web, CALLBACK)).toBe(400);
    expect(await status(local, "http://127.0.0.1:1/callback")).toBe(200);
    // Another port of the loopback address is another address for the rule.
    expect(await status(local, "http://127.0.0.1:2/callback")).toBe(400);
  });
});

describe("RFC 8252, 7.1: schemes of applications", () => {
  const uris = ["cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/oauth2redirect?x=1"];
  let admitting = 0;
  beforeAll(() => {
    admitting = proxy.addNode({ redirectSchemes: ["cursor", "com.example.app"] });
  });
  const register = async (uri: string, at: number) =>
    (await proxy.send("POST", "/oauth/register", { json: { redirect_uris: [uri] } }, at)).status;

  it.each(uris)("%s is refused unless the operator names its scheme", async (uri) => {
    expect(await register(uri, 0)).toBe(400);
    expect(await register(uri, admitting)).toBe(201);
  });

  it.each(uris)("a login ends at %s", async (uri) => {
    const client = await proxy.register(uri, "editor", admitting);
    const asked = await proxy.authorize({ client_id: client, redirect_uri: uri }, "", admitting);
    expect(await asked.text()).toContain(`<strong>${uri.split(":", 1)[0]}:</strong>`);
    const tokens = await proxy.login(client, { redirect_uri: uri }, admitting);
    expect(await proxy.status(tokens.access_token, admitting)).toBe(200);
  });

  it("a mistake of such a client is shown to the user, and sends them nowhere", async () => {
    const uri = uris[0] ?? "";
    const client = await proxy.register(uri, "editor", admitting);
    const response = await proxy.authorize({ client_id: client, redirect_uri: uri, scope: "admin" }, "", admitting);
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  });

  it.each([
    "cursor:callback",
    "cursor:",
    "cursor://user@host/callback",
    "cursor://host/callback#x",
    "cursor://host/call back",
    "CURSOR://host/callback",
    "cursors://host/callback",
    "javascript://cursor/%0aalert(1)",
    `cursor://host/${"x".repeat(2_048)}`,
  ])("%s is refused beside them", async (uri) => {
    expect(await register(uri, admitting)).toBe(400);
  });

  it("must be the registered address, character for character", async () => {
    const client = await proxy.register(uris[0], "editor", admitting);
    for (const uri of [`${uris[0]}/more`, "cursor://anysphere.cursor-mcp:1/oauth/callback", uris[1] ?? ""])
      expect((await proxy.authorize({ client_id: client, redirect_uri: uri }, "", admitting)).status).toBe(400);
  });

  it("are held to `allowRedirect` too", async () => {
    const strict = proxy.addNode({ redirectSchemes: ["cursor"], allowRedirect: (uri) => uri !== uris[0] });
    expect(await register(uris[0] ?? "", strict)).toBe(400);
    expect(await register("cursor://other/callback", strict)).toBe(201);
  });

  it.each([
    "javascript",
    "data",
    "file",
    "blob",
    "http",
    "https",
    "vbscript",
    "intent",
    "Cursor",
    "cursor:",
    "cursor://",
    "",
  ])("the option `redirectSchemes` refuses %j", (scheme) => {
    const upstream = { issuer: "https://issuer.example", client: { clientId: "app" } };
    const options = { resource: "https://shop.example/mcp", secret: SECRET, upstream, redirectSchemes: [scheme] };
    expect(() => oauthProxy(options)).toThrow(/redirectSchemes/);
  });
});
