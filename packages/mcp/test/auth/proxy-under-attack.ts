import { createHash } from "node:crypto";
import { Server } from "@parley/mcp";
import { type OAuthProxy, type OAuthProxyOptions, oauthProxy } from "@parley/mcp/auth";
import { type FetchHandler, fetchHandler } from "@parley/mcp/http";
import type { Principal } from "../../src/http/authentication.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { KeyValue, Storage } from "../../src/storage/storage.js";
import { TestIssuer } from "./test-issuer.js";

export const ORIGIN = "https://shop.example";
export const SECRET = "the first secret, of more than thirty-two characters";
export const VERIFIER = "v".repeat(43);
export const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
/** The provider's tokens. None of them may ever be seen outside. */
export const CANARY = "canary-7f3a";

/** One request of a browser or a client. */
export interface Sent {
  readonly cookie?: string | undefined;
  readonly origin?: string | undefined;
  readonly bearer?: string | undefined;
  readonly form?: Readonly<Record<string, string>> | URLSearchParams | undefined;
  readonly json?: unknown;
}

/** A user who has come to a page that asks for consent. */
export interface Asked {
  readonly cookie: string;
  readonly request: string;
}

/** Tokens, as a client gets them. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

type Params = Readonly<Record<string, string | undefined>>;

/** A server behind the proxy with everything that an attacker can do to it. */
export class ProxyUnderAttack {
  readonly provider: TestIssuer;
  /** Nodes of one deployment: they share the secret and the storage, and nothing else. */
  readonly nodes: FetchHandler[] = [];
  readonly proxies: OAuthProxy[] = [];
  readonly #origins: string[] = [];
  /** Every body and header that went out, and every line that was logged. */
  readonly out: string[] = [];
  clock = Date.now();
  readonly storage = createMemoryStorage({ clock: { now: () => this.clock } });

  private constructor(provider: TestIssuer) {
    this.provider = provider;
  }

  static async start(options: Partial<OAuthProxyOptions> = {}): Promise<ProxyUnderAttack> {
    const provider = await TestIssuer.start({
      intercept: (request, response) => {
        if (request.path !== "/token") return false;
        const body = {
          access_token: `${CANARY}-access-${provider.to("/token").length}`,
          refresh_token: `${CANARY}-refresh`,
          token_type: "Bearer",
          expires_in: 600,
        };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
        return true;
      },
    });
    const proxy = new ProxyUnderAttack(provider);
    proxy.addNode(options);
    return proxy;
  }

  addNode(options: Partial<OAuthProxyOptions> = {}): number {
    const auth = oauthProxy({
      resource: `${ORIGIN}/mcp`,
      secret: SECRET,
      scopes: ["read", "write"],
      upstream: { issuer: this.provider.issuer, client: { clientId: "the-one-app", clientSecret: `${CANARY}-secret` } },
      identify: () => ({ subject: "ada" }),
      storage: this.storage,
      platform: { now: () => this.clock, warn: (text) => this.out.push(text) },
      ...options,
    });
    this.proxies.push(auth);
    this.#origins.push(new URL(auth.resource).origin);
    const server = new Server({ name: "shop", version: "1" }).tool("who", (_args, ctx) => String(ctx.auth?.subject));
    return this.nodes.push(fetchHandler(server, { auth })) - 1;
  }

  /** The storage of all nodes as one node has it; `before` sees each call, and may fail it. */
  seenStorage(before: (method: keyof KeyValue) => Promise<never> | undefined): Storage {
    const { kv } = this.storage;
    const own: KeyValue = {
      get: (key) => before("get") ?? kv.get(key),
      set: (key, value, options) => before("set") ?? kv.set(key, value, options),
      delete: (key, options) => before("delete") ?? kv.delete(key, options),
      touch: (key, ttlMs) => before("touch") ?? kv.touch(key, ttlMs),
    };
    return { ...this.storage, kv: own };
  }

  async close(): Promise<void> {
    this.provider.close();
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  async send(method: string, path: string, sent: Sent = {}, node = 0): Promise<Response> {
    const own = this.#origins[node] ?? ORIGIN;
    const headers: Record<string, string> = {
      host: new URL(own).host,
      accept: "application/json, text/event-stream",
    };
    if (sent.cookie !== undefined) headers["cookie"] = sent.cookie;
    if (sent.origin !== undefined) headers["origin"] = sent.origin;
    if (sent.bearer !== undefined) headers["authorization"] = `Bearer ${sent.bearer}`;
    if (sent.json !== undefined) headers["content-type"] = "application/json";
    const body = sent.json === undefined ? sent.form && new URLSearchParams(sent.form) : JSON.stringify(sent.json);
    const request = new Request(`${own}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    const response = await this.nodes[node]?.(request);
    if (response === undefined) throw new Error(`there is no node ${node}`);
    this.out.push(await response.clone().text(), JSON.stringify([...response.headers]));
    return response;
  }

  async register(redirectUri = "http://127.0.0.1:1/callback", name = "editor", node = 0): Promise<string> {
    const json = { redirect_uris: [redirectUri], client_name: name };
    const response = await this.send("POST", "/oauth/register", { json }, node);
    // The proxy answers a registration in this form.
    return ((await response.json()) as { client_id: string }).client_id;
  }

  /** The first request of a login; a parameter that is undefined is left out. */
  authorize(params: Params, extra = "", node = 0): Promise<Response> {
    const all: Params = {
      response_type: "code",
      redirect_uri: "http://127.0.0.1:1/callback",
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
      state: "s",
      resource: `${ORIGIN}/mcp`,
      scope: "read",
      ...params,
    };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(all)) if (value !== undefined) query.set(name, value);
    return this.send("GET", `/oauth/authorize?${query}${extra}`, {}, node);
  }

  async asked(clientId: string, params: Params = {}, node = 0): Promise<Asked> {
    const response = await this.authorize({ client_id: clientId, ...params }, "", node);
    const [, request = ""] = /name="request" value="([^"]+)"/.exec(await response.text()) ?? [];
    return { cookie: response.headers.get("set-cookie")?.split(";", 1)[0] ?? "", request };
  }

  consent({ cookie, request }: Asked, sent: Sent = {}, node = 0): Promise<Response> {
    return this.send(
      "POST",
      "/oauth/consent",
      { cookie, origin: this.#origins[node], form: { request, answer: "allow" }, ...sent },
      node,
    );
  }

  /** Lets the user log in at the provider; where the provider sends the browser. */
  async atProvider(consented: Response): Promise<string> {
    const { headers } = await fetch(consented.headers.get("location") ?? "", { redirect: "manual" });
    const { pathname, search } = new URL(headers.get("location") ?? "");
    return `${pathname}${search}`;
  }

  /** The whole way to a code. */
  async code(clientId: string, params: Params = {}, node = 0): Promise<string> {
    const asked = await this.asked(clientId, params, node);
    const callback = await this.atProvider(await this.consent(asked, {}, node));
    const back = await this.send("GET", callback, { cookie: asked.cookie }, node);
    return new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
  }

  token(form: Params, node = 0): Promise<Response> {
    const all: Params = { grant_type: "authorization_code", redirect_uri: "http://127.0.0.1:1/callback", ...form };
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(all)) if (value !== undefined) given.set(name, value);
    return this.send("POST", "/oauth/token", { form: given }, node);
  }

  async login(clientId: string, params: Params = {}, node = 0): Promise<Tokens> {
    const code = await this.code(clientId, params, node);
    const { redirect_uri: uri = "http://127.0.0.1:1/callback" } = params;
    const form = { code, client_id: clientId, code_verifier: VERIFIER, redirect_uri: uri };
    const response = await this.token(form, node);
    // The proxy answers in this form.
    return (await response.json()) as Tokens;
  }

  refresh(clientId: string, refreshToken: string, node = 0): Promise<Response> {
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
    return this.token({ ...form, redirect_uri: undefined }, node);
  }

  /** The caller that a token identifies, as a tool has it in `ctx.auth`. */
  async caller(bearer: string, node = 0): Promise<Principal> {
    const headers = { authorization: `Bearer ${bearer}` };
    const header = (name: string) => (name === "authorization" ? headers.authorization : undefined);
    const request = { method: "POST", path: "/mcp", header, headers: () => headers };
    const caller = await this.proxies[node]?.authenticate(request, undefined);
    if (caller === undefined || "status" in caller) throw new Error("the token is not accepted");
    return caller;
  }

  /** The status of a call with this token. */
  async status(bearer: string, node = 0): Promise<number> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "attacker", version: "1" } };
    const json = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    return (await this.send("POST", "/mcp", { bearer, json }, node)).status;
  }
}
